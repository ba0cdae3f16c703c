import { cut, fitted, type Size, wrapped } from '../terminal/fitting.ts'
import type { Colours } from '../terminal/screen.ts'
import { readDefinition, SOURCE_FILE } from './source.ts'

/** How many lines of code are shown, if there is room. */
const CODE_LINES = 15
const TITLE = 'Belay: durable workflows on PostgreSQL, with rollback'
/** What Belay reads in a definition, apart from the user's own code. */
const WORDS = /\b(define|step|dependsOn|run|compensate|PermanentError)\b/g

/** The first lines of the workflow's code above other lines, on a terminal of any size. */
export type OpeningPage = (below: readonly string[], size: Size) => readonly string[]

export async function readOpeningPage(colours: Colours): Promise<OpeningPage> {
  const code = await readDefinition()
  const { bold, dim } = colours
  return (below, size) => {
    const wrap = (line: string) => wrapped(line, size.columns)
    const top = [bold(TITLE), '', `${SOURCE_FILE} begins:`].flatMap(wrap)
    const bottom = below.flatMap(wrap)
    // A line for the number of further lines, and one that stays empty.
    const room = Math.max(1, Math.min(CODE_LINES, size.rows - top.length - bottom.length - 2))
    const shown = code.slice(0, room).map((line) => painted(cut(line, size.columns), colours))
    const more = dim(`… and ${code.length - room} more lines`)
    const above = [...top, { spare: '' }, ...shown, more, { spare: '' }]
    const rows = Math.max(0, size.rows - bottom.length)
    return [...fitted(above, { ...size, rows }), ...bottom].slice(-size.rows)
  }
}

function painted(line: string, { cyan, dim }: Colours): string {
  return /^ *\/\//.test(line) ? dim(line) : line.replace(WORDS, (word) => cyan(word))
}
