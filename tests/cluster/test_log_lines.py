import logging

from cluster.article_work import pool_warnings


def test_warnings_of_pools_are_lines_of_the_run() -> None:
    lines: list[str] = []
    pools = logging.getLogger("cluster.actor_pool")
    with pool_warnings(lines.append):
        pools.warning("Actor %d on %s is stuck.", 3, "node")
        pools.info("nothing to worry about")
        logging.getLogger("elsewhere").warning("of something else")
    pools.warning("afterwards")
    assert lines == ["Warning: Actor 3 on node is stuck."]
