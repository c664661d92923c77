//! Options that say what the columns of a table mean.

use crate::config::one_of;
use clap::Args;
use cluekit::data::{Meaning, TaskKind};

/// What is said of columns beforehand.
#[derive(Args, Clone, Debug, Default)]
pub struct MeaningArgs {
    /// Columns of the table that are left out, as in --drop A,B; may be repeated.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    drop: Vec<String>,
    /// Whether the target is a class or a value [default: told from its cells].
    #[arg(long, value_parser = one_of::<TaskKind>(TaskKind::ALL.map(TaskKind::name)))]
    task: Option<TaskKind>,
    /// An order of words from low to high, as in --ordinal "size=small<large", or "E<D<C<B<A" for all columns that hold
    /// just these words; may be repeated.
    #[arg(long, value_name = "ORDER")]
    ordinal: Vec<String>,
}

impl MeaningArgs {
    /// The same as the library knows it.
    pub fn meaning(&self) -> Meaning {
        Meaning { drop: self.drop.clone(), task: self.task, ordinal: self.ordinal.clone() }
    }
}
