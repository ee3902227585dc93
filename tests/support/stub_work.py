"""`python stub_work.py submit phase1 …` is `nws submit phase1 …` with the work of `bench.stub_work`.

What is tested with it is that nothing is lost, not what the numbers mean.
"""

from bench import stub_work
from jobs import cli
from jobs.drive import pools

if __name__ == "__main__":
    pools._work = stub_work.work
    cli.main()
