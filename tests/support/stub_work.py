"""`python stub_work.py submit phase1 …` is `nws submit phase1 …` with the work of `bench.stub_work`.

What is tested with it is that nothing is lost, not what the numbers mean.
"""

import functools
import sys

from bench import stub_work
from nws.jobs import cli
from nws.jobs.drive import driver, sharded_run

if __name__ == "__main__":
    driver.start = functools.partial(driver.start, make_work=stub_work.work)
    driver.resume = functools.partial(driver.resume, make_work=stub_work.work)
    sharded_run.NWS = [sys.executable, __file__]
    cli.main()
