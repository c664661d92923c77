//! How a file is to be read, where its contents do not say it.

use crate::config::one_of;
use clap::Args;
use cluekit::data::{Delimiter, Reading};

/// Options that say what is otherwise recognised.
#[derive(Args, Debug)]
#[command(next_help_heading = "How the file is read")]
pub struct ReadingArgs {
    /// The first row of the table names the columns.
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The first row of the table holds values; columns are called column_1, column_2, ….
    #[arg(long)]
    no_header: bool,
    /// What separates the cells of a text; space stands for any run of blanks.
    #[arg(long, value_name = "NAME", value_parser = one_of::<Delimiter>(Delimiter::ALL.map(Delimiter::name)))]
    delimiter: Option<Delimiter>,
    /// Numbers such as 1,500 have a decimal comma.
    #[arg(long)]
    decimal_comma: bool,
    /// The sheet of an Excel workbook [default: the first].
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// The labels that belong to a NumPy or IDX file of images.
    #[arg(long, value_name = "FILE")]
    labels: Option<String>,
    /// Names of the classes of images, in the order of the numbers that are their labels.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    class_names: Vec<String>,
}

impl ReadingArgs {
    /// What was said.
    pub fn reading(&self) -> Reading {
        Reading {
            header: (self.header || self.no_header).then_some(self.header),
            delimiter: self.delimiter,
            decimal_comma: self.decimal_comma,
            sheet: self.sheet.clone(),
            labels: self.labels.clone(),
            class_names: self.class_names.clone(),
        }
    }
}
