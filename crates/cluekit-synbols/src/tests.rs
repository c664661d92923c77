//! Symbols by hand, by law, and beside real ones.

use super::*;
use cluekit::testing::real_data;

fn small_letters() -> Vec<char> {
    ('a'..='z').collect()
}

fn generator(set: Set) -> Generator {
    let letters = small_letters();
    Generator::new(set, &letters, fonts::embedded(&letters).unwrap()).unwrap()
}

/// A white letter in the middle of black, without noise.
fn plainly(generator: &Generator, letter: char) -> Attributes {
    Attributes {
        letter: generator.letters().iter().position(|known| *known == letter).unwrap(),
        font: generator.fonts().iter().position(|font| font.name == "DejaVu Sans").unwrap(),
        is_bold: false,
        is_slant: false,
        rotation: 0.0,
        scale: 0.5,
        translation: [0.0, 0.0],
        foreground: Pattern::WHITE,
        background: Pattern::BLACK,
        inverse_color: false,
        pixel_noise_scale: 0.0,
        seed: 0,
    }
}

/// Left, upper, right and lower end of what is covered, in sides of the image.
fn extent(symbol: &Symbol, side: usize) -> [f32; 4] {
    let covered: Vec<usize> = (0..side * side).filter(|&pixel| symbol.mask[pixel] > 127).collect();
    let least = |of: &dyn Fn(usize) -> usize| covered.iter().map(|&pixel| of(pixel)).min().unwrap() as f32;
    let most = |of: &dyn Fn(usize) -> usize| covered.iter().map(|&pixel| of(pixel)).max().unwrap() as f32 + 1.0;
    let (x, y) = (|pixel: usize| pixel % side, |pixel: usize| pixel / side);
    [least(&x), least(&y), most(&x), most(&y)].map(|end| end / side as f32)
}

fn assert_near(got: &[f32], expected: &[f32], tolerance: f32) {
    let near = got.iter().zip(expected).all(|(a, b)| (a - b).abs() <= tolerance);
    assert!(near && got.len() == expected.len(), "{got:?}, expected {expected:?}");
}

#[test]
fn more_images_than_fit_into_memory_are_refused() {
    let message = generator(Set::Plain).make(usize::MAX, Seed(0)).unwrap_err().to_string();
    assert!(message.contains("count") && message.contains("ask for fewer"), "{message}");
}

#[test]
fn in_a_mean_black_on_white_and_white_on_black_cancel() {
    let generator = generator(Set::NonCamouBw).in_grey(true);
    let contrast = |chosen: fn(&Symbol) -> bool| {
        let symbols = generator.make(4000, Seed(0)).unwrap();
        let chosen: Vec<&Symbol> = symbols.iter().filter(|symbol| chosen(symbol)).collect();
        let of = |pixel: usize| chosen.iter().map(|s| f64::from(s.pixels[pixel])).sum::<f64>() / chosen.len() as f64;
        let means: Vec<f64> = (0..32 * 32).map(of).collect();
        let ends = |a: fn(f64, f64) -> f64| means.iter().copied().reduce(a).unwrap();
        ends(f64::max) - ends(f64::min)
    };
    let (one, both) = (contrast(|symbol| symbol.attributes.inverse_color), contrast(|_| true));
    assert!(one > 60.0 && both < one / 4.0, "{one} {both}");
}

#[test]
fn a_letter_is_as_large_as_asked_and_where_it_is_asked_to_be() {
    let side = 200;
    let generator = generator(Set::Plain).with_side(side).unwrap();
    // An l is a bar: its height is the scale, and its width the thickness of a stroke.
    let bar = plainly(&generator, 'l');
    let [left, top, right, bottom] = extent(&generator.draw(bar.clone()), side);
    assert_near(&[top, bottom, (left + right) / 2.0], &[0.25, 0.75, 0.5], 0.01);
    let corner = Attributes { translation: [-1.0, 1.0], ..bar.clone() };
    let [left, _, _, bottom] = extent(&generator.draw(corner), side);
    assert_near(&[left, bottom], &[0.0, 1.0], 0.01);
    // A quarter of a turn lays it down.
    let lying = Attributes { rotation: std::f32::consts::FRAC_PI_2, ..bar.clone() };
    let [left, top, right, bottom] = extent(&generator.draw(lying), side);
    assert_near(&[left, right, (top + bottom) / 2.0], &[0.25, 0.75, 0.5], 0.01);
    // Beyond the edge it is cut off.
    let outside = generator.draw(Attributes { translation: [10.0, 0.0], ..bar });
    assert!(outside.mask.iter().all(|covered| *covered == 0));
}

#[test]
fn a_slant_shifts_y_by_a_fifth_of_x() {
    let side = 400;
    let generator = generator(Set::Plain).with_side(side).unwrap();
    // A lying bar of length ½ rises by a tenth from one end to the other.
    let bar = plainly(&generator, 'l');
    let lying = Attributes { rotation: std::f32::consts::FRAC_PI_2, ..bar };
    let height = |slant: bool| {
        let [_, top, _, bottom] = extent(&generator.draw(Attributes { is_slant: slant, ..lying.clone() }), side);
        bottom - top
    };
    assert!((height(true) - height(false) - 0.1).abs() < 0.01, "{} and {}", height(true), height(false));
}

#[test]
fn bold_letters_cover_more_whether_the_font_has_a_bold_face_or_not() {
    let generator = generator(Set::Plain);
    let ink = |font: usize, is_bold: bool| {
        let attributes = Attributes { font, is_bold, ..plainly(&generator, 'o') };
        generator.draw(attributes).mask.iter().map(|&covered| u32::from(covered)).sum::<u32>()
    };
    assert!(generator.fonts().iter().any(|font| !font.has_bold));
    for (place, font) in generator.fonts().iter().enumerate() {
        assert!(ink(place, true) > ink(place, false), "{}", font.name);
    }
}

#[test]
fn pixels_are_inverted_stretched_and_kept_within_a_byte() {
    let generator = generator(Set::Plain);
    let plain = generator.draw(plainly(&generator, 'h'));
    assert_eq!((plain.pixels.len(), plain.mask.len()), (32 * 32 * 3, 32 * 32));
    assert_eq!((plain.pixels.iter().min(), plain.pixels.iter().max()), (Some(&0), Some(&255)));
    let inverse = generator.draw(Attributes { inverse_color: true, ..plainly(&generator, 'h') });
    let sums = plain.pixels.iter().zip(&inverse.pixels).map(|(a, b)| u32::from(*a) + u32::from(*b));
    assert!(sums.into_iter().all(|sum| (254..=255).contains(&sum)));
    // 0.4 on 0.6 uses the whole range too.
    let [foreground, background] = [0.4, 0.6].map(|grey| Pattern::Solid([grey; 3]));
    let faint = generator.draw(Attributes { foreground, background, ..plainly(&generator, 'h') });
    assert_eq!((faint.pixels.iter().min(), faint.pixels.iter().max()), (Some(&0), Some(&255)));
    let noisy = generator.draw(Attributes { pixel_noise_scale: 0.1, ..plainly(&generator, 'h') });
    let black: Vec<f64> =
        noisy.pixels.iter().zip(&plain.pixels).filter(|(_, was)| **was == 0).map(|(v, _)| f64::from(*v)).collect();
    // Half of the noise is cut off at black: the mean of the rest is σ / √(2π), 10.2 of 255, less the cut to whole bytes.
    let mean = black.iter().sum::<f64>() / black.len() as f64;
    assert!((mean - 9.9).abs() < 1.0, "{mean}");
    // An image of one colour is not stretched beyond it.
    let nothing = Attributes { foreground: Pattern::BLACK, ..plainly(&generator, 'h') };
    assert!(generator.draw(nothing).pixels.iter().all(|&value| value == 0));
}

#[test]
fn grey_images_have_one_channel_and_any_size() {
    for (set, shape) in [(Set::Tiny, [8, 1]), (Set::Default, [32, 3])] {
        assert_eq!(generator(set).shape(), shape);
    }
    let grey = generator(Set::Default).with_side(13).unwrap().in_grey(true);
    assert_eq!(grey.make(3, Seed(1)).unwrap()[2].pixels.len(), 169);
    let message = generator(Set::Default).with_side(0).unwrap_err().to_string();
    assert_eq!(message, "setting `resolution`: must lie between 1 and 4096, got 0");
}

#[test]
fn the_same_seed_makes_the_same_images_on_any_number_of_threads() {
    for set in Set::ALL {
        let generator = generator(set);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| generator.make(150, Seed(5)).unwrap())
        };
        let one = on(1);
        assert!(one == on(3), "{}", set.name());
        assert!(one[..20] == generator.make(20, Seed(5)).unwrap(), "fewer images are the first of more");
        assert!(one[..20] != generator.make(20, Seed(6)).unwrap(), "{}", set.name());
    }
}

#[test]
fn attributes_follow_their_laws() {
    let draws = |set: Set| -> Vec<Attributes> {
        let mut rng = Seed(3).stream("laws");
        (0..4000).map(|_| set.law().draw(26, 10, &mut rng)).collect()
    };
    let mean = |draws: &[Attributes], of: &dyn Fn(&Attributes) -> f32| {
        draws.iter().map(|draw| f64::from(of(draw))).sum::<f64>() / draws.len() as f64
    };
    let near = |got: f64, expected: f64, tolerance: f64| {
        assert!((got - expected).abs() < tolerance, "{got}, expected {expected}");
    };
    let all = draws(Set::Default);
    let often: [fn(&Attributes) -> bool; 3] = [|draw| draw.is_bold, |draw| draw.is_slant, |draw| draw.inverse_color];
    for of in often {
        near(mean(&all, &|draw| f32::from(of(draw))), 0.5, 0.04);
    }
    near(mean(&all, &|draw| draw.rotation), 0.0, 0.03);
    near(mean(&all, &|draw| draw.rotation * draw.rotation).sqrt(), 0.3, 0.02);
    near(mean(&all, &|draw| (draw.scale / 0.6).ln()), 0.0, 0.02);
    near(mean(&all, &|draw| (draw.scale / 0.6).ln().powi(2)).sqrt(), 0.2, 0.01);
    assert!(all.iter().all(|draw| draw.translation.iter().all(|t| t.abs() <= 0.9)));
    // Uniform between ±0.9 has a deviation of 0.9 / √3.
    near(mean(&all, &|draw| draw.translation[1].powi(2)).sqrt(), 0.52, 0.02);
    assert!((0..26).all(|letter| all.iter().any(|draw| draw.letter == letter)));
    assert!((0..10).all(|font| all.iter().any(|draw| draw.font == font)));
    let thick = draws(Set::NonCamouBw);
    assert!(thick.iter().all(|draw| draw.is_bold && !draw.is_slant && draw.foreground == Pattern::WHITE));
    near(mean(&thick, &|draw| (draw.scale / 0.7).ln().powi(2)).sqrt(), 0.1, 0.01);
    let plain = &draws(Set::Plain)[0];
    assert_eq!((plain.rotation, plain.scale, plain.translation), (0.0, 1.0, [0.0, 0.0]));
    assert!(draws(Set::LessVariations).iter().all(|draw| !draw.is_bold && draw.rotation.abs() < 0.6));
}

#[test]
fn sets_are_called_by_their_names() {
    for set in Set::ALL {
        assert_eq!(set.name().parse::<Set>().unwrap(), set);
    }
    let message = "black-white".parse::<Set>().unwrap_err().to_string();
    assert!(message.contains("`black-white`") && message.contains("default-bw, non-camou-bw"), "{message}");
}

#[test]
fn a_gradient_runs_between_its_colours() {
    // Seeds of both kinds: every colour is a mixture of three, so no channel leaves 0 to 1.
    for seed in 0..40 {
        let colours = Pattern::Gradient(seed).paint(16);
        assert!(colours.as_flattened().iter().all(|v| (0.0..=1.0).contains(v)));
        let steps = (1..256)
            .filter(|pixel| pixel % 16 > 0)
            .map(|pixel| colours[pixel].iter().zip(colours[pixel - 1]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max));
        assert!(steps.into_iter().fold(0.0, f32::max) < 0.5, "seed {seed} has an edge");
        let spread = |channel: usize| {
            let values = colours.iter().map(|colour| colour[channel]);
            values.clone().fold(0.0, f32::max) - values.fold(1.0, f32::min)
        };
        assert!((0..3).map(spread).fold(0.0, f32::max) > 0.01, "seed {seed} has one colour");
    }
}

#[test]
fn fonts_of_a_folder_are_found_and_what_is_no_font_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let letters = small_letters();
    let refused = || fonts::of_folder(folder.path(), &letters).unwrap_err().to_string();
    assert!(refused().contains("holds no .ttf, .otf, .ttc or .otc file"), "{}", refused());
    let inner = folder.path().join("deeper");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("serif.TTF"), dejavu::serif::regular()).unwrap();
    let found = fonts::of_folder(folder.path(), &letters).unwrap();
    assert_eq!((found.len(), found[0].name.as_str(), found[0].has_bold), (1, "DejaVu Serif", false));
    // A set of thick letters needs a font with a bold face.
    let message = Generator::new(Set::NonCamouBw, &letters, found).unwrap_err().to_string();
    assert!(message.contains("needs fonts with a bold face"), "{message}");
    let message = fonts::of_folder(folder.path(), &['a', '\u{4e00}']).unwrap_err().to_string();
    assert!(message.contains("none of its 1 font files has all of `a\u{4e00}`"), "{message}");
    let font = dejavu::serif::regular();
    for damage in [&b"no font"[..], &font[..3], &[]] {
        std::fs::write(folder.path().join("bad.otf"), damage).unwrap();
        assert!(refused().contains("bad.otf") && refused().contains("remove it or mend it"), "{}", refused());
    }
    // A font that is cut short, or of random bytes, has no letters or is refused; it never panics.
    for end in (0..font.len()).step_by(font.len() / 40) {
        std::fs::write(folder.path().join("bad.otf"), &font[..end]).unwrap();
        let _ = fonts::of_folder(folder.path(), &letters);
        let mut changed = font.to_vec();
        changed[end..(end + 200).min(font.len())].fill(0xff);
        std::fs::write(folder.path().join("bad.otf"), changed).unwrap();
        let _ = fonts::of_folder(folder.path(), &letters);
    }
}

/// Mean, contrast, share of ink and density of edges of one image, of its mean over the channels.
fn looks(pixels: &[u8], side: usize) -> [f64; 4] {
    let grey: Vec<f64> = pixels.chunks(3).map(|p| p.iter().map(|&v| f64::from(v)).sum::<f64>() / 765.0).collect();
    let count = grey.len() as f64;
    let mean = grey.iter().sum::<f64>() / count;
    let contrast = (grey.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
    let middle = (grey.iter().copied().fold(1.0, f64::min) + grey.iter().copied().fold(0.0, f64::max)) / 2.0;
    let bright = grey.iter().filter(|v| **v > middle).count() as f64 / count;
    let across = (0..grey.len()).filter(|at| at % side > 0).map(|at| (grey[at] - grey[at - 1]).abs());
    let down = (side..grey.len()).map(|at| (grey[at] - grey[at - side]).abs());
    let edges = across.chain(down).sum::<f64>() / (2 * side * (side - 1)) as f64;
    [mean, contrast, bright.min(1.0 - bright), edges]
}

/// The largest distance between the distribution functions of two samples.
fn two_sample_distance(a: &[f64], b: &[f64]) -> f64 {
    let below = |values: &[f64], at: f64| values.iter().filter(|v| **v <= at).count() as f64 / values.len() as f64;
    a.iter().chain(b).map(|&at| (below(a, at) - below(b, at)).abs()).fold(0.0, f64::max)
}

#[test]
fn symbols_look_like_the_published_ones() {
    let Some(data) = real_data(&["synbols_preview"]) else { return };
    // The published sets have the accented letters of English too.
    let letters: Vec<char> = ALPHABET.chars().collect();
    for set in [Set::NonCamouBw, Set::Default, Set::NonCamouShade, Set::Camouflage] {
        let file = data.join(format!("synbols_preview/{}_n=100000_2020-Oct-19_preview.png", set.name()));
        let mut reader =
            png::Decoder::new(std::io::BufReader::new(std::fs::File::open(file).unwrap())).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        let (width, samples) = (info.width as usize, info.color_type.samples());
        // Ten by ten images of 32 × 32 pixels, each pixel twice as large.
        let real = |i: usize| -> Vec<u8> {
            let pixel = |at: usize| {
                let (x, y) = (2 * (32 * (i % 10) + at % 32), 2 * (32 * (i / 10) + at / 32));
                bytes[(y * width + x) * samples..][..3].to_vec()
            };
            (0..32 * 32).flat_map(pixel).collect()
        };
        let real: Vec<[f64; 4]> = (0..100).map(|i| looks(&real(i), 32)).collect();
        let generator = Generator::new(set, &letters, fonts::embedded(&letters).unwrap()).unwrap();
        let ours: Vec<[f64; 4]> = generator.make(1000, Seed(0)).unwrap().iter().map(|s| looks(&s.pixels, 32)).collect();
        for (place, name) in ["mean", "contrast", "ink", "edges"].into_iter().enumerate() {
            let of = |all: &[[f64; 4]]| all.iter().map(|looks| looks[place]).collect::<Vec<_>>();
            let distance = two_sample_distance(&of(&real), &of(&ours));
            eprintln!("{} {name}: {distance:.3}", set.name());
            assert!(distance < 0.25, "{} of {}: {distance}", name, set.name());
        }
    }
}

#[test]
fn a_set_reads_back_from_its_only_name() {
    for set in Set::ALL {
        assert_eq!(set.name().parse::<Set>().unwrap(), set);
        assert_eq!(serde_json::to_value(set).unwrap(), set.name());
        assert_eq!(serde_json::from_value::<Set>(set.name().into()).unwrap(), set);
    }
}
