//! Quantiles of the standard normal distribution.
//!
//! Algorithm AS 241 (PPND16): three rational approximations, about 16 digits. [Wichura1988]

/// Coefficients from the highest power down, numerator and denominator.
type Rational = ([f64; 8], [f64; 8]);

/// For |p − ½| ≤ 0.425, in 0.180625 − (p − ½)².
const CENTRE: Rational = (
    [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
);

/// For r = √(−log min(p, 1 − p)) ≤ 5, in r − 1.6.
const TAIL: Rational = (
    [
        7.745_450_142_783_414e-4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        5.475_938_084_995_345e-4,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
);

/// For r above 5, in r − 5.
const FAR_TAIL: Rational = (
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        1.242_660_947_388_078_4e-3,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_8e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        7.868_691_311_456_133e-4,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_888,
        1.0,
    ],
);

/// The value that a standard normal variable stays below with probability `p`: Φ⁻¹(p).
///
/// −∞ for p ≤ 0, ∞ for p ≥ 1, NaN for NaN.
///
/// ```
/// use cluekit::measure::normal_quantile;
///
/// assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-6);
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    let centred = p - 0.5;
    if centred.abs() <= 0.425 {
        return centred * ratio(&CENTRE, 0.180_625 - centred * centred);
    }
    let outside = p.min(1.0 - p);
    if outside <= 0.0 {
        return f64::INFINITY.copysign(centred);
    }
    let r = (-outside.ln()).sqrt();
    let magnitude = if r <= 5.0 { ratio(&TAIL, r - 1.6) } else { ratio(&FAR_TAIL, r - 5.0) };
    magnitude.copysign(centred)
}

fn ratio((numerator, denominator): &Rational, at: f64) -> f64 {
    let horner = |coefficients: &[f64; 8]| coefficients.iter().fold(0.0, |sum, c| sum * at + c);
    horner(numerator) / horner(denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(got: f64, expected: f64, tolerance: f64) {
        assert!((got - expected).abs() <= tolerance, "{got} is not {expected}");
    }

    #[test]
    fn known_quantiles_are_met_in_the_centre_and_in_both_tails() {
        // From Python 3.11: statistics.NormalDist().inv_cdf(p).
        for (p, expected) in QUANTILES {
            assert_close(normal_quantile(p), expected, 1e-14 * f64::max(1.0, expected.abs()));
        }
    }

    const QUANTILES: [(f64, f64); 8] = [
        (0.5, 0.0),
        (0.75, 0.6744897501960817),
        (0.9, 1.2815515655446008),
        (0.95, 1.6448536269514715),
        (0.975, 1.9599639845400536),
        (0.025, -1.9599639845400538),
        (1e-06, -4.753424308822899),
        (1e-20, -9.262340089798405),
    ];

    #[test]
    fn the_ends_are_infinite_and_nan_stays_nan() {
        assert!(normal_quantile(0.0) < f64::MIN);
        assert!(normal_quantile(1.0) > f64::MAX);
        assert!(normal_quantile(-3.0) < f64::MIN);
        assert!(normal_quantile(f64::NAN).is_nan());
    }
}
