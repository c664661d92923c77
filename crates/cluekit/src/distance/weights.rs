//! What a person says that a change of each feature costs: `cost = { AGE = 3.0 }` of the constraints.

use crate::data::Schema;

/// The weight of each encoded column, 1 of a feature that `cost` does not name; none without any cost.
pub(super) fn weights(schema: &Schema) -> Option<Vec<f32>> {
    let cost = &schema.constraints.cost;
    if cost.is_empty() {
        return None;
    }
    let mut weights = vec![1.0; schema.width()];
    for (feature, column) in schema.features.iter().zip(schema.columns()) {
        if let Some(weight) = cost.get(&feature.name) {
            weights[column.range()].fill(*weight as f32);
        }
    }
    Some(weights)
}
