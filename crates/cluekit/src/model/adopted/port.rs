//! The inputs and outputs of a model file: name, type and shape.

use std::fmt;

/// An input or output of a model file.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Name in the file.
    pub name: String,
    /// Type of its values.
    pub element: Element,
    /// Sides, rows first; none where a side is free.
    pub dims: Vec<Option<usize>>,
}

/// Type of the values of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Floating-point numbers.
    Float,
    /// Whole numbers.
    Integer,
    /// True or false.
    Boolean,
    /// Words.
    Text,
}

impl Port {
    /// Number of values of a row, where the shape says it.
    pub fn width(&self) -> Option<usize> {
        self.dims.iter().skip(1).copied().try_fold(1_usize, |width, side| width.checked_mul(side?))
    }
}

/// Such as `x: numbers [rows, 23]`.
impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = match self.element {
            Element::Float => "numbers",
            Element::Integer => "whole numbers",
            Element::Boolean => "yes or no",
            Element::Text => "words",
        };
        let side = |(at, side): (usize, &Option<usize>)| match (at, side) {
            (_, Some(side)) => side.to_string(),
            (0, None) => "rows".into(),
            (_, None) => "?".into(),
        };
        let sides: Vec<String> = self.dims.iter().enumerate().map(side).collect();
        write!(f, "{}: {element} [{}]", self.name, sides.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_knows_the_width_of_a_row_and_says_what_it_is() {
        let port = Port { name: "x".into(), element: Element::Float, dims: vec![None, Some(3), Some(4)] };
        assert_eq!((port.width(), port.to_string()), (Some(12), "x: numbers [rows, 3, 4]".into()));
        assert_eq!(Port { dims: vec![None, None], ..port.clone() }.width(), None);
        assert_eq!(Port { dims: vec![None], ..port }.width(), Some(1));
    }
}
