"""The options of `nws submit` and `nws resume`, each named once. All have an environment variable, NWS_<OPTION>."""

from typing import Annotated, Literal, TypeAlias

import typer

Recipe = Annotated[str, typer.Option("--recipe", "-r", envvar="NWS_RECIPE", help="sample, paper, or a YAML file.")]
Phase2Recipe = Annotated[
    str,
    typer.Option(
        "--recipe",
        "-r",
        envvar="NWS_RECIPE",
        help="sample, paper, as-written (the study's own REINFORCE), or a YAML file.",
    ),
]
Dataset = Annotated[
    list[str] | None,
    typer.Option(
        envvar="NWS_DATASET",
        help="sample, sample-ko, cnn_dailymail, xsum, a JSONL, JSON, CSV, TSV (also .gz) or Parquet file, or a Hub id "
        "(organisation/name[:configuration][@revision]). Repeatable; replaces the recipe's datasets.",
    ),
]
TrainDataset = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset",
        envvar="NWS_DATASET",
        help="What to train on: as for the other jobs. Repeatable; replaces the recipe's training datasets. Of a Hub "
        "dataset, the test articles are its test split unless --test-dataset is given.",
    ),
]
TestDataset = Annotated[
    list[str] | None,
    typer.Option(
        envvar="NWS_TEST_DATASET",
        help="What policies are evaluated on. Repeatable; replaces the recipe's test datasets.",
    ),
]
TrainSplit = Annotated[
    str | None, typer.Option("--split", envvar="NWS_SPLIT", help="Split of Hub datasets to train on; default: train.")
]
TestSplit = Annotated[
    str | None, typer.Option(envvar="NWS_TEST_SPLIT", help="Split of Hub datasets to evaluate on; default: test.")
]
TrainLimit = Annotated[
    int | None,
    typer.Option("--limit", envvar="NWS_LIMIT", min=1, help="Learn from at most this many articles of each dataset."),
]
TestLimit = Annotated[
    int | None,
    typer.Option(envvar="NWS_TEST_LIMIT", min=1, help="Judge on at most this many articles of each dataset."),
]
Split = Annotated[str | None, typer.Option(envvar="NWS_SPLIT", help="Split of Hub datasets.")]
Streaming = Annotated[
    bool | None, typer.Option("--streaming", envvar="NWS_STREAMING", help="Stream Hub datasets row by row.")
]
Limit = Annotated[
    int | None, typer.Option(envvar="NWS_LIMIT", min=1, help="Read at most this many articles of each dataset.")
]
TextField = Annotated[str | None, typer.Option(envvar="NWS_TEXT_FIELD", help="Field with the article.")]
ReferenceField = Annotated[
    str | None,
    typer.Option(envvar="NWS_REFERENCE_FIELD", help="Field with the reference or references; default: a usual name."),
]
KeyField = Annotated[
    str | None,
    typer.Option(envvar="NWS_KEY_FIELD", help="Field that names the article; default: id, key, fname, or the row."),
]
Pipeline = Annotated[
    str | None,
    typer.Option(
        envvar="NWS_PIPELINE",
        help="What cuts English articles into sentences and chunks: an installed spaCy pipeline such as "
        "en_core_web_sm; blank, which needs none; or auto. Korean articles are always cut by Kiwi.",
    ),
]
Encoders = Annotated[
    list[str] | None,
    typer.Option(
        envvar="NWS_ENCODER",
        help="bert-base-uncased, xlnet-base-cased, electra-base-discriminator, all-MiniLM-L6-v2, a folder, or a "
        "Hub id (organisation/name[@revision]). Repeatable; replaces the recipe's encoders.",
    ),
]
Encoder = Annotated[
    str | None,
    typer.Option(envvar="NWS_ENCODER", help="What embeds sentences and chunks: a known name, a folder, or a Hub id."),
]
BertScoreModel = Annotated[
    str | None,
    typer.Option(
        "--bertscore-model",
        envvar="NWS_BERTSCORE_MODEL",
        help="Backbone of BERTScore: a known name, a folder, or a Hub id.",
    ),
]
BertScoreLayer = Annotated[
    int | None,
    typer.Option(
        "--bertscore-layer",
        envvar="NWS_BERTSCORE_LAYER",
        min=1,
        help="Layer of that backbone; default: the recipe's, or with --bertscore-model the one tuned for it.",
    ),
]
Systems = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        envvar="NWS_SYSTEM",
        help="lead3, lead2+chunks, lead3-search, textrank, centroid, textrank-words, lexrank, position, "
        "window-oracle, oracle, lead, random, random-words; a generator: bart-large-cnn, bart-large-xsum, "
        "pegasus-cnn_dailymail, t5-large, gpt2-xl, a folder, a Hub id, or openai:MODEL. Repeatable; replaces "
        "the recipe's systems.",
    ),
]
Prompt = Annotated[
    str | None,
    typer.Option(
        envvar="NWS_PROMPT",
        help="Prompt for generators that NWS does not know by name; the article replaces {article}. With {n} in it, "
        "a summary of each n is asked for; without, one uncut summary. Default: the recipe's, see docs/generators.md.",
    ),
]
Predictions = Annotated[
    list[str] | None,
    typer.Option(
        "--predictions",
        envvar="NWS_PREDICTIONS",
        help="Summaries that were written elsewhere: a JSONL, CSV or Parquet file with an article's key as `id`, and a "
        "`prediction`. The system is called after the file, or as you say: name=file. Repeatable.",
    ),
]
Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        envvar="NWS_PLUGIN",
        help="Systems and metrics of your own: a Python file with SYSTEMS or METRICS, or an installed entry point of "
        "nws.systems or nws.metrics. A system is a function of an article's text and n, a metric one of a summary and "
        "the list of its references. All of them take part; the code is shipped to a cluster. Repeatable.",
    ),
]
Rivals = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        envvar="NWS_SYSTEM",
        help="What policies are compared with: lead3, lead2+chunks, lead3-search, textrank, centroid, "
        "textrank-words, lexrank, position, window-oracle, oracle, lead, random, random-words. Repeatable; replaces "
        "the recipe's systems. (The oracle takes most of the time.)",
    ),
]
Decodings = Annotated[
    list[str] | None,
    typer.Option(
        "--decoding",
        envvar="NWS_DECODING",
        help="How trained policies write: greedy, or rerank, the best of many draws. Repeatable; replaces the recipe's "
        "decodings.",
    ),
]
Lengths = Annotated[str | None, typer.Option("--n", envvar="NWS_N", help="Summary lengths in words: 7,9,11,13.")]
Seed = Annotated[
    int | None, typer.Option(envvar="NWS_SEED", min=0, help="Seed of the random control, of sampling and of tests.")
]
Passes = Annotated[
    int | None,
    typer.Option(
        envvar="NWS_PASSES", min=1, help="How many times each training article is used at each n, by every method."
    ),
]
Seeds = Annotated[
    list[int] | None,
    typer.Option(
        "--seed",
        envvar="NWS_SEED",
        min=0,
        help="Seed of the training. Repeatable: policies are trained with each. The first also seeds the tests.",
    ),
]
EngineName: TypeAlias = Literal["ray", "inline"]
Engine = Annotated[
    str,
    typer.Option(
        envvar="NWS_ENGINE",
        help="ray: on all cores, with Ray. inline: in one process, for small runs.",
    ),
]
Accelerator = Annotated[
    str | None,
    typer.Option(
        envvar="NWS_ACCELERATOR",
        help="What each actor computes on: auto (a GPU where there is one, else a CPU), cpu, or a Ray accelerator "
        "type such as T4.",
    ),
]
Actors = Annotated[
    int | None,
    typer.Option(envvar="NWS_ACTORS", min=1, help="Number of worker processes (actors); default: as many as fit."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Resume the newest run of exactly this recipe, if there is one.")
]
Name = Annotated[str | None, typer.Option("--name", help="Name of a new run, as `nws ls` lists it.")]
Note = Annotated[str | None, typer.Option("--note", help="Note on a new run, as `nws ls` lists it.")]
LogTo = Annotated[
    list[str] | None,
    typer.Option(
        "--log-to",
        envvar="NWS_LOG_TO",
        help="Log the run there, too: tensorboard, mlflow or wandb, each of which must be installed (nws[mlflow]). "
        "Repeatable.",
    ),
]
NoReuse = Annotated[
    bool,
    typer.Option(
        "--no-reuse",
        envvar="NWS_NO_REUSE",
        help="Compute every summary anew. Default: copy those that other runs of the store have.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print what would run and how long it would take, and run nothing.")
]
WaitForMachines = Annotated[
    float | None,
    typer.Option(
        envvar="NWS_WAIT_FOR_MACHINES",
        min=0,
        help="Seconds to wait for an autoscaled cluster to have what the actors need; say how many with --actors.",
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        envvar="RAY_ADDRESS",
        help="Dashboard of a Ray cluster, http://HEAD:8265, to run there. Default: on this machine.",
    ),
]
NoWait = Annotated[
    bool, typer.Option("--no-wait", help="With --address: return once the run is submitted, and do not follow it.")
]
Local = Annotated[
    bool, typer.Option("--local", help="Drive the run on this machine, even if it was submitted to a cluster.")
]
HeadAddress = Annotated[
    str | None,
    typer.Option("--address", help="Dashboard of the Ray cluster; default: the one the run was submitted to."),
]
