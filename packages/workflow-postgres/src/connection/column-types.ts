import pg from 'pg'

const { builtins } = pg.types

// Only what Belay's statements return. Their own, since an application may have changed pg's global parsers.
// The numbers are those of bool[], int4[], text[], int8[], float8[] and uuid[], which pg doesn't name.
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [builtins.BOOL]: (text) => text === 't',
  [builtins.INT4]: Number,
  [builtins.FLOAT8]: Number,
  1000: (text) => parseList(text).map((element) => element === 't'),
  1007: (text) => parseList(text).map(Number),
  1009: parseList,
  1016: (text) => parseList(text).map(Number),
  1022: (text) => parseList(text).map(Number),
  2951: parseList,
}

/** How column values become JavaScript: numbers, booleans, lists of both, of words and of ids; everything else stays text. */
export const columnTypes = {
  getTypeParser: (oid: number) => PARSERS[oid] ?? ((text: string) => text),
}

// Lists of statuses, booleans, numbers and ids: words that Postgres never quotes.
function parseList(text: string): string[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',')
}
