// Only the types that Belay's statements return. These parsers are separate because an application may have changed pg's global ones.
// The numbers are the oids of bool, int4, float8, bool[], int4[], text[], int8[], float8[] and uuid[]. Without pg's names for some of them: PGlite's
// part of this package runs in browsers, where there is no pg.
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't',
  23: Number,
  701: Number,
  1000: (text) => parseList(text).map((element) => element === 't'),
  1007: (text) => parseList(text).map(Number),
  1009: parseList,
  1016: (text) => parseList(text).map(Number),
  1022: (text) => parseList(text).map(Number),
  2951: parseList,
}

/** Converts column values to JavaScript: numbers, booleans, and lists of numbers, booleans, words and ids. All other types stay text. */
export const columnTypes = {
  getTypeParser: (oid: number) => PARSERS[oid] ?? ((text: string) => text),
}

// Lists of statuses, booleans, numbers and ids: Postgres never quotes such elements.
function parseList(text: string): string[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',')
}
