//! Colours: a palette for kinds of things, and maps for amounts of something.
//!
//! Maps are interpolated in OKLab, where equal distances look equally different, and run along their control points
//! at constant speed. So a step in value is the same step for the eye wherever on the map it happens. [Ottosson2020]

/// An opaque sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// Red, 0 to 255.
    pub red: u8,
    /// Green, 0 to 255.
    pub green: u8,
    /// Blue, 0 to 255.
    pub blue: u8,
}

/// Okabe and Ito's colours, told apart by colour-blind readers too; their black is a grey that shows on dark paper.
pub const PALETTE: [Colour; 8] = [
    Colour::new(0, 114, 178),
    Colour::new(230, 159, 0),
    Colour::new(0, 158, 115),
    Colour::new(204, 121, 167),
    Colour::new(213, 94, 0),
    Colour::new(86, 180, 233),
    Colour::new(240, 228, 66),
    Colour::new(128, 128, 128),
];

/// Colour `index` of the palette, which begins again after its end.
pub fn palette(index: usize) -> Colour {
    PALETTE[index % PALETTE.len()]
}

impl Colour {
    /// Black, `#000000`.
    pub const BLACK: Self = Self::new(0, 0, 0);
    /// White, `#ffffff`.
    pub const WHITE: Self = Self::new(255, 255, 255);
    /// Blue of the palette.
    pub const BLUE: Self = PALETTE[0];
    /// Light blue of the palette.
    pub const SKY: Self = PALETTE[5];
    /// Vermilion of the palette.
    pub const VERMILION: Self = PALETTE[4];

    /// The colour with these components.
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    /// The colour as CSS writes it, such as `#0072b2`.
    ///
    /// ```
    /// use cluekit_plot::Colour;
    ///
    /// assert_eq!(Colour::new(0, 114, 178).hex(), "#0072b2");
    /// ```
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

/// How an amount becomes a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourMap {
    /// Dark violet through green to yellow.
    #[default]
    Sequential,
    /// Almost white to dark violet: a quiet ground for coloured points.
    Pale,
    /// Blue through white to red; the middle means nothing happens.
    Diverging,
}

impl ColourMap {
    /// All colour maps.
    pub const ALL: [Self; 3] = [Self::Sequential, Self::Pale, Self::Diverging];

    /// The colour at `share` of the way, 0 to 1; what lies outside has the colour of the nearer end.
    pub fn at(self, share: f64) -> Colour {
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        let stops = self.stops();
        match self {
            Self::Sequential | Self::Pale => along(stops, share),
            // White is in the middle, however long the two arms are.
            Self::Diverging if share <= 0.5 => along(&stops[..=2], 2.0 * share),
            Self::Diverging => along(&stops[2..], 2.0 * share - 1.0),
        }
    }

    fn stops(self) -> &'static [Colour] {
        const SEQUENTIAL: [Colour; 6] = [
            Colour::new(56, 14, 78),
            Colour::new(58, 76, 138),
            Colour::new(32, 122, 142),
            Colour::new(38, 166, 124),
            Colour::new(142, 208, 76),
            Colour::new(250, 232, 56),
        ];
        const PALE: [Colour; 4] = [
            Colour::new(250, 249, 252),
            Colour::new(206, 200, 226),
            Colour::new(136, 118, 178),
            Colour::new(66, 26, 104),
        ];
        const DIVERGING: [Colour; 5] = [
            Colour::new(24, 70, 140),
            Colour::new(110, 164, 208),
            Colour::new(246, 246, 246),
            Colour::new(232, 132, 104),
            Colour::new(158, 20, 40),
        ];
        match self {
            Self::Sequential => &SEQUENTIAL,
            Self::Pale => &PALE,
            Self::Diverging => &DIVERGING,
        }
    }
}

/// The colour at `share` of the way along `stops`, at constant speed.
fn along(stops: &[Colour], share: f64) -> Colour {
    let stops: Vec<Lab> = stops.iter().map(|&stop| stop.into()).collect();
    let lengths: Vec<f64> = stops.windows(2).map(|pair| pair[0].distance(pair[1])).collect();
    let mut rest = share * lengths.iter().sum::<f64>();
    for (pair, &length) in stops.windows(2).zip(&lengths) {
        if rest <= length {
            return pair[0].towards(pair[1], rest / length).into();
        }
        rest -= length;
    }
    stops[stops.len() - 1].into()
}

/// A colour in OKLab: lightness, green to red, blue to yellow.
#[derive(Clone, Copy, Debug)]
struct Lab([f64; 3]);

impl Lab {
    fn distance(self, other: Self) -> f64 {
        self.0.iter().zip(other.0).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    fn towards(self, other: Self, share: f64) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + share * (other.0[i] - self.0[i])))
    }
}

impl From<Colour> for Lab {
    fn from(colour: Colour) -> Self {
        let linear = [colour.red, colour.green, colour.blue].map(|c| {
            let c = f64::from(c) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        });
        let cones = product(&TO_CONES, linear).map(f64::cbrt);
        Self(product(&TO_LAB, cones))
    }
}

impl From<Lab> for Colour {
    fn from(lab: Lab) -> Self {
        let cones = product(&FROM_LAB, lab.0).map(|c| c * c * c);
        let [red, green, blue] = product(&FROM_CONES, cones).map(|c| {
            let c = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
            (c * 255.0).round() as u8 // `as` keeps within 0 and 255
        });
        Self { red, green, blue }
    }
}

type Matrix = [[f64; 3]; 3];

const TO_CONES: Matrix = [
    [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
    [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
    [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
];
const TO_LAB: Matrix = [
    [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
    [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
    [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
];
const FROM_LAB: Matrix = [
    [1.0, 0.396_337_777_4, 0.215_803_757_3],
    [1.0, -0.105_561_345_8, -0.063_854_172_8],
    [1.0, -0.089_484_177_5, -1.291_485_548_0],
];
const FROM_CONES: Matrix = [
    [4.076_741_662_1, -3.307_711_591_3, 0.230_969_929_2],
    [-1.268_438_004_6, 2.609_757_401_1, -0.341_319_396_5],
    [-0.004_196_086_3, -0.703_418_614_7, 1.707_614_701_0],
];

fn product(matrix: &Matrix, vector: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_begins_and_ends_with_its_outer_colours() {
        for map in ColourMap::ALL {
            let stops = map.stops();
            for (share, expected) in [(0.0, stops[0]), (1.0, stops[stops.len() - 1])] {
                assert_eq!(map.at(share), expected, "{map:?} at {share}");
            }
            assert_eq!(map.at(-4.0), map.at(0.0));
            assert_eq!(map.at(f64::INFINITY), map.at(1.0));
            assert_eq!(map.at(f64::NAN), map.at(0.0));
        }
    }

    #[test]
    fn equal_steps_look_equally_different() {
        for map in ColourMap::ALL {
            let shades: Vec<Lab> = (0..=20).map(|i| map.at(f64::from(i) / 20.0).into()).collect();
            let steps: Vec<f64> = shades.windows(2).map(|pair| pair[0].distance(pair[1])).collect();
            let (least, greatest) = steps.iter().fold((f64::MAX, 0.0_f64), |(l, g), &s| (l.min(s), g.max(s)));
            // A control point inside a step cuts the corner a little.
            assert!(greatest < 1.25 * least, "{map:?}: steps from {least} to {greatest}");
        }
    }

    #[test]
    fn the_middle_of_the_diverging_map_is_its_lightest_colour() {
        assert_eq!(ColourMap::Diverging.at(0.5), Colour::new(246, 246, 246));
        let lightness = |share: f64| Lab::from(ColourMap::Diverging.at(share)).0[0];
        assert!(lightness(0.45) < lightness(0.5) && lightness(0.55) < lightness(0.5));
    }

    #[test]
    fn sequential_maps_only_grow_lighter_or_only_darker() {
        let lightness =
            |map: ColourMap| -> Vec<f64> { (0..=50).map(|i| Lab::from(map.at(f64::from(i) / 50.0)).0[0]).collect() };
        assert!(lightness(ColourMap::Sequential).windows(2).all(|pair| pair[0] < pair[1]));
        assert!(lightness(ColourMap::Pale).windows(2).all(|pair| pair[0] > pair[1]));
    }

    #[test]
    fn the_palette_begins_again_after_its_end() {
        assert_eq!(palette(8), palette(0));
        assert_eq!(Colour::BLUE.hex(), "#0072b2");
    }
}
