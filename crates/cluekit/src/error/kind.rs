//! What sort of problem an error is, for those who act on it without reading it.

use super::Error;

/// The sort of problem behind an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A setting cannot be used.
    Usage,
    /// The model is certain about no training row.
    NoCertainRow,
    /// No input meets all constraints.
    ConstraintsImpossible,
    /// A model does not fit the data, the other model or the method.
    ModelMismatch,
    /// The data changed since the run was made.
    DataChanged,
    /// A file, a run, a mapper or a dataset is not there.
    NotFound,
    /// A file does not hold what it should.
    Damaged,
    /// The data cannot serve for what was asked.
    Data,
    /// Training diverged: a loss left the finite numbers, or grew without end.
    Diverged,
    /// A download failed.
    Fetch,
    /// An [`Observer`](crate::observer::Observer) ended the work.
    Cancelled,
    /// The operating system refused to read or write.
    Io,
}

impl Error {
    /// The sort of problem.
    ///
    /// ```
    /// use cluekit::error::ErrorKind;
    /// use cluekit::search::LatentBall;
    ///
    /// let error = LatentBall::new(-1.0).expect_err("a radius is positive");
    /// assert_eq!(error.kind(), ErrorKind::Usage);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            Self::Read { .. } | Self::Write { .. } => ErrorKind::Io,
            Self::Missing { .. } => ErrorKind::NotFound,
            Self::File { .. } | Self::Line { .. } => ErrorKind::Damaged,
            Self::Setting { .. } | Self::NotDifferentiable { .. } => ErrorKind::Usage,
            Self::Infeasible { .. } => ErrorKind::ConstraintsImpossible,
            Self::NoCertainRow { .. } => ErrorKind::NoCertainRow,
            Self::DataChanged { .. } => ErrorKind::DataChanged,
            Self::Data { .. } => ErrorKind::Data,
            Self::Mismatch { .. } | Self::Shape { .. } | Self::NoGradient { .. } => ErrorKind::ModelMismatch,
            Self::Diverged { .. } => ErrorKind::Diverged,
            Self::Cancelled { .. } => ErrorKind::Cancelled,
            Self::Fetch { .. } => ErrorKind::Fetch,
            Self::Remedied { problem, .. } => problem.kind(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Remedy;

    #[test]
    fn a_remedy_leaves_the_kind_as_it_is() {
        let error = Error::NoCertainRow { below: 0.2 }.remedy(Remedy::raise("threshold"));
        assert_eq!(error.kind(), ErrorKind::NoCertainRow);
        assert_eq!(error.of_input(3).kind(), ErrorKind::NoCertainRow);
    }

    #[test]
    fn a_file_that_cannot_be_found_is_told_from_one_that_cannot_be_read() {
        let read = |kind: std::io::ErrorKind| Error::reading("x")(kind.into()).kind();
        assert_eq!(read(std::io::ErrorKind::NotFound), ErrorKind::NotFound);
        assert_eq!(read(std::io::ErrorKind::PermissionDenied), ErrorKind::Io);
    }
}
