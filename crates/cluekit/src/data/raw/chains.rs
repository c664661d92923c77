//! Whether the chains of sectors end in the compound file that an old workbook is; a parser would follow a ring for ever.
//!
//! The file consists of sectors of 2^shift bytes after a header. A table (FAT) says for each sector which one follows;
//! its own sectors are listed in the header, and in further sectors (DIFAT) that are a chain themselves. Small streams have a
//! table of the same kind (mini FAT).

/// Numbers from here on are no sectors: the end of a chain, and sectors that are free or hold tables.
const SPECIAL: u32 = 0xffff_fffa;

/// So many bytes stand before the first sector.
const HEADER: usize = 512;

/// Whether every chain ends, as far as the tables can be read.
pub(super) fn end(file: &[u8]) -> bool {
    let Some(sectors) = Sectors::of(file) else { return true };
    let Some(table) = sectors.table() else { return false };
    let Some(first) = word(file, 60) else { return true };
    has_no_ring(&table) && has_no_ring(&sectors.numbers(along(first, &table)))
}

/// The sectors of a file.
struct Sectors<'a> {
    file: &'a [u8],
    shift: u32,
}

impl<'a> Sectors<'a> {
    fn of(file: &'a [u8]) -> Option<Self> {
        let shift = u32::from(*file.get(30)?);
        (file.len() >= HEADER && (7..=16).contains(&shift)).then_some(Self { file, shift })
    }

    /// The numbers in these sectors.
    fn numbers(&self, sectors: impl IntoIterator<Item = u32>) -> Vec<u32> {
        sectors
            .into_iter()
            .flat_map(|sector| self.sector(sector).as_chunks().0)
            .map(|&n| u32::from_le_bytes(n))
            .collect()
    }

    fn sector(&self, number: u32) -> &'a [u8] {
        let from = (number as usize + 1) << self.shift;
        self.file.get(from..from + (1 << self.shift)).unwrap_or(&[])
    }

    /// Which sector follows each; nothing if the list of the table's own sectors does not end.
    fn table(&self) -> Option<Vec<u32>> {
        let mut own: Vec<u32> = (0..109).map_while(|place| word(self.file, 76 + 4 * place)).collect();
        let mut next = word(self.file, 68)?;
        let mut left = self.file.len() >> self.shift;
        while next < SPECIAL {
            left = left.checked_sub(1)?;
            let mut further = self.numbers([next]);
            next = further.pop().unwrap_or(SPECIAL);
            own.extend(further);
        }
        Some(self.numbers(own.into_iter().filter(|&sector| sector < SPECIAL)))
    }
}

fn word(file: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?))
}

/// The sectors of the chain that begins with `first`, at most as many as the table has.
fn along(first: u32, table: &[u32]) -> impl Iterator<Item = u32> + '_ {
    let next = |&sector: &u32| table.get(sector as usize).copied().filter(|&next| next < SPECIAL);
    std::iter::successors(Some(first).filter(|&first| first < SPECIAL), next).take(table.len())
}

/// Whether no chain of a table comes back to where it was.
fn has_no_ring(table: &[u32]) -> bool {
    // The walk that came by each place first, counted from 1.
    let mut walks = vec![0; table.len()];
    (0..table.len()).all(|start| {
        let (mut place, walk) = (start, start + 1);
        while place < table.len() && walks[place] == 0 {
            walks[place] = walk;
            place = table[place] as usize;
        }
        place >= table.len() || walks[place] != walk
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workbook() -> Vec<u8> {
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/credit_tiny.xls")).unwrap()
    }

    #[test]
    fn chains_end_or_come_back() {
        let end = SPECIAL + 4;
        assert!(has_no_ring(&[1, 2, end, end, 2]));
        assert!(!has_no_ring(&[1, 2, 0]));
        assert!(!has_no_ring(&[end, 1]));
        assert_eq!(along(0, &[1, 2, end]).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(along(0, &[1, 0]).count(), 2);
    }

    #[test]
    fn a_sector_that_follows_itself_is_found_in_a_workbook() {
        let mut file = workbook();
        assert!(end(&file));
        file[8772..8776].copy_from_slice(&17u32.to_le_bytes());
        assert!(!end(&file));
    }

    #[test]
    fn a_cut_workbook_is_left_to_the_parser() {
        let file = workbook();
        for length in [0, 31, 70, 100, 600, file.len() / 2] {
            assert!(end(&file[..length]), "{length}");
        }
    }
}
