//! Pictures as PNG: sizes, and the colours of some pixels.

#![cfg(feature = "png")]

use batt_arc::Grid;
use batt_dsl::OwnedValue;
use batt_picture::{Palette, PictureStyle, PngError, RunOutcome, Svg, Theme, grid, run, value};
use resvg::tiny_skia::Pixmap;
use serde_json::json;

/// The blank border of a picture.
const MARGIN: u32 = 12;

fn pixels(svg: &Svg, scale: f32) -> Pixmap {
    Pixmap::decode_png(&svg.to_png(scale).unwrap()).unwrap()
}

fn color(pixels: &Pixmap, x: u32, y: u32) -> [u8; 3] {
    let pixel = pixels.pixel(x, y).unwrap();
    assert_eq!(pixel.alpha(), 255, "the background is opaque");
    [pixel.red(), pixel.green(), pixel.blue()]
}

fn style(palette: Palette) -> PictureStyle {
    PictureStyle {
        palette,
        cell: Some(10),
        ..PictureStyle::default()
    }
}

/// Grids of all kinds: with long runs along rows, along columns, and without any.
fn grids() -> Vec<Grid> {
    let make = |height: usize, width: usize, at: fn(usize, usize) -> usize| {
        let cells = (0..height * width).map(|k| (at(k / width, k % width) % 10) as u8);
        Grid::new(height, width, cells.collect()).unwrap()
    };
    vec![
        make(1, 1, |_, _| 7),
        make(3, 30, |i, _| i),
        make(30, 4, |_, j| j * 3),
        make(30, 30, |i, j| i * i * 7 + j * j * j * 3 + i * j),
        make(10, 10, |i, j| if i == j { 9 } else { 0 }),
    ]
}

#[test]
fn every_cell_has_its_colour() {
    for palette in Palette::ALL {
        for grid_of in grids() {
            let svg = grid(&grid_of, &style(palette));
            for scale in [1, 2] {
                let pixels = pixels(&svg, scale as f32);
                for (i, row) in grid_of.rows().enumerate() {
                    for (j, &cell) in row.iter().enumerate() {
                        let middle = |k: usize| (MARGIN + k as u32 * 10 + 5) * scale;
                        let found = color(&pixels, middle(j), middle(i));
                        let wanted = palette.colors()[usize::from(cell)];
                        assert_eq!(found, wanted, "{palette}, row {i}, column {j}");
                    }
                }
                // The line between two cells.
                let line = color(&pixels, MARGIN * scale, (MARGIN + 5) * scale);
                assert_eq!(line, [0x55; 3]);
            }
        }
    }
}

#[test]
fn the_size_follows_the_scale() {
    let svg = grid(&grids()[1], &style(Palette::Official));
    for scale in [0.5, 1.0, 2.0, 3.3] {
        let pixels = pixels(&svg, scale);
        let side = |pixels: u32| (f64::from(pixels) * f64::from(scale)).ceil() as u32;
        assert_eq!(pixels.width(), side(svg.width()));
        assert_eq!(pixels.height(), side(svg.height()));
    }
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(svg.to_png(scale), Err(PngError::Scale { .. })));
    }
    let error = svg.to_png(1e6).unwrap_err().to_string();
    assert!(error.contains("too many for a PNG"), "{error}");
    assert!(svg.to_png(1e-9).is_ok(), "at least one pixel");
}

#[test]
fn themes_paint_the_page() {
    for (theme, page) in [
        (Theme::Light, [0xff; 3]),
        (Theme::Dark, [0x0d, 0x11, 0x17]),
        // A PNG cannot ask what the reader prefers.
        (Theme::Auto, [0xff; 3]),
    ] {
        let style = PictureStyle {
            theme,
            ..PictureStyle::default()
        };
        let svg = grid(&grids()[0], &style);
        let pixels = pixels(&svg, 1.0);
        assert_eq!(color(&pixels, 0, 0), page);
        assert_eq!(color(&pixels, svg.width() - 1, svg.height() - 1), page);
    }
}

#[test]
fn text_is_drawn_without_fonts_of_the_system() {
    let svg = grid(&grids()[0], &style(Palette::Official));
    let pixels = pixels(&svg, 1.0);
    // Below the one cell stands its size.
    let below = MARGIN + 12..svg.height();
    let dark = below.flat_map(|y| (0..svg.width()).map(move |x| (x, y)));
    let dark = dark
        .filter(|&(x, y)| color(&pixels, x, y)[0] < 0xa0)
        .count();
    assert!(dark > 15, "{dark} dark pixels");
    // The font does not have all characters. Those are left out.
    let outcome = RunOutcome::default();
    let foreign = run("网格 \u{1f600}", None, &outcome, &PictureStyle::default());
    assert!(foreign.to_png(1.0).is_ok());
}

#[test]
fn objects_are_drawn_at_their_place() {
    let background = Grid::from_rows(&[[8u8; 6]; 5]).unwrap();
    let object = json!({"s": [{"t": [3, {"t": [2, 4]}]}, {"t": [2, {"t": [3, 4]}]}]});
    let object = OwnedValue::from_json(&object).unwrap();
    let svg = value(&object, Some(&background), &style(Palette::Official));
    let pixels = pixels(&svg, 1.0);
    let at = |i: u32, j: u32| color(&pixels, MARGIN + j * 10 + 5, MARGIN + i * 10 + 5);
    let palette = Palette::Official.colors();
    assert_eq!(at(2, 4), palette[3]);
    assert_eq!(at(3, 4), palette[2]);
    // The grid behind shines through the page.
    let faint = at(0, 0);
    assert_ne!(faint, palette[8]);
    assert_eq!(faint[2], 0xff);
    assert!(faint[0] > palette[8][0]);
    assert_eq!(at(4, 5), faint);
}

#[test]
fn wrong_cells_stand_out() {
    let expected = Grid::from_rows(&[[1, 1], [1, 1]]).unwrap();
    let got = OwnedValue::grid([&[1, 1][..], &[1, 2]]);
    let outcome = RunOutcome {
        expected: Some(&expected),
        value: Some(&got),
        error: None,
    };
    let style = PictureStyle {
        theme: Theme::Light,
        ..style(Palette::Official)
    };
    let svg = run("f", None, &outcome, &style);
    let pixels = pixels(&svg, 1.0);
    let all = (0..svg.height()).flat_map(|y| (0..svg.width()).map(move |x| (x, y)));
    let red = [0xcf, 0x22, 0x2e];
    let marked = all.filter(|&(x, y)| color(&pixels, x, y) == red).count();
    // One cell of the difference, without its border and the white cross.
    assert!((20..=200).contains(&marked), "{marked} red pixels");
}
