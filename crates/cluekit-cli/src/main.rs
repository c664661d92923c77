//! `clue`: why a model is uncertain, and what would make it certain.

mod cmd;
mod config;
mod print;
mod progress;
mod remedy;
mod stop;

use clap::{Parser, Subcommand};
use cluekit::error::ErrorKind;
use cluekit::observer::parse_time;
use std::io::Write;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Duration;

// Tensors of a few megabytes come and go at every step; the system's allocator gives each back to the kernel.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Why a model is uncertain, and what would make it certain.
#[derive(Parser, Debug)]
#[command(
    name = "clue",
    version,
    after_help = "Start here:\n  clue demo                               the whole story in two minutes, nothing to download\n  \
                  clue train credit --out runs/credit     train a Bayesian network and a VAE\n  \
                  clue adopt --predictor net.onnx --data loans.csv --target default --out runs/mine
  \
                                                          bring a model of your own
  \
                  clue rank runs/credit --top 10          the inputs that the model is least sure about\n  \
                  clue explain runs/credit --method clue  what would make it sure about them\n  \
                  clue glam fit runs/credit               one change for a whole group, learned once\n  \
                  clue measure runs/credit                whether that can be trusted\n  \
                  clue bench runs/credit                  how fast its searches are\n  \
                  clue audit runs/credit                  all of this as one page for a person\n\n\
                  Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but some inputs have no accepted explanation,\n\
                  124 stopped by --timeout, 130 by Ctrl-C (128 and the number of the signal)."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Threads to use; results do not depend on it [default: all].
    #[arg(long, global = true, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print no progress and no notes on stderr, only errors.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Stop after this time, such as 90s, 10m or 2h, as Ctrl-C would.
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_time)]
    timeout: Option<Duration>,
}

#[derive(Subcommand, Debug)]
enum Command {
    Demo(cmd::demo::DemoArgs),
    Data(cmd::data::DataArgs),
    Schema(cmd::schema::SchemaArgs),
    Train(Box<cmd::train::TrainArgs>),
    Adopt(Box<cmd::adopt::AdoptArgs>),
    Rank(cmd::rank::RankArgs),
    Explain(Box<cmd::explain::ExplainArgs>),
    Glam(cmd::glam::GlamArgs),
    Measure(cmd::measure::MeasureArgs),
    Bench(cmd::bench::BenchArgs),
    Audit(Box<cmd::audit::AuditArgs>),
    Report(cmd::report::ReportArgs),
    Experiment(cmd::experiment::ExperimentArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    start_log(cli.quiet);
    if let Err(problem) = stop::listen(cli.timeout).map_err(Into::into).and_then(|()| start_threads(cli.threads)) {
        return fail(&problem);
    }
    let done = match cli.command {
        Command::Demo(args) => cmd::demo::run(args, cli.quiet),
        Command::Data(args) => cmd::data::run(args, cli.quiet),
        Command::Schema(args) => cmd::schema::run(args),
        Command::Train(args) => cmd::train::run(*args, cli.quiet),
        Command::Adopt(args) => cmd::adopt::run(*args, cli.quiet),
        Command::Rank(args) => cmd::rank::run(args),
        Command::Explain(args) => cmd::explain::run(*args, cli.quiet),
        Command::Glam(args) => cmd::glam::run(args, cli.quiet),
        Command::Measure(args) => cmd::measure::run(args),
        Command::Bench(args) => cmd::bench::run(args, cli.quiet),
        Command::Audit(args) => cmd::audit::run(*args, cli.quiet),
        Command::Report(args) => cmd::report::run(args),
        Command::Experiment(args) => cmd::experiment::run(args, cli.quiet),
    };
    done.unwrap_or_else(|problem| fail(&problem))
}

fn start_log(quiet: bool) {
    let level = if quiet { tracing::Level::ERROR } else { tracing::Level::INFO };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    // It would say on a stderr that is closed or full that it cannot be written to, and panic.
    let log = log.log_internal_errors(false);
    log.without_time().with_target(false).with_level(false).with_ansi(false).init();
}

fn start_threads(threads: Option<NonZeroUsize>) -> anyhow::Result<()> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, NonZeroUsize::get));
    Ok(builder.build_global()?)
}

/// Prints the chain of causes once and chooses the exit code.
fn fail(problem: &anyhow::Error) -> ExitCode {
    if is_stopped(problem)
        && let Some(code) = stop::ended()
    {
        return code;
    }
    if is_closed_pipe(problem) {
        return ExitCode::SUCCESS; // `clue … | head` has seen enough.
    }
    // If stderr is gone too, there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "clue: {}", remedy::chain(problem));
    let usage = [ErrorKind::Usage, ErrorKind::ConstraintsImpossible];
    if kinds(problem).any(|kind| usage.contains(&kind)) { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// What sort of problems the library found.
fn kinds(problem: &anyhow::Error) -> impl Iterator<Item = ErrorKind> {
    problem.chain().filter_map(|cause| cause.downcast_ref().map(cluekit::Error::kind))
}

/// Whether the work ended because it was told to.
fn is_stopped(problem: &anyhow::Error) -> bool {
    kinds(problem).any(|kind| kind == ErrorKind::Cancelled)
}

fn is_closed_pipe(problem: &anyhow::Error) -> bool {
    let closed = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    problem.chain().any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(closed))
}
