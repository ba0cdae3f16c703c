import type { SpareLine } from '../terminal/fitting.ts'
import type { Colours } from '../terminal/screen.ts'
import { firstSourceLines, SOURCE_FILE } from './source-lines.ts'

const SOURCE_LINES = 15

/** The first lines of the workflow's code. */
export async function openingLines({ bold, dim }: Colours): Promise<readonly (string | SpareLine)[]> {
  const { shown, more } = await firstSourceLines(SOURCE_LINES)
  return [
    bold('Belay: durable workflows on PostgreSQL, with automatic rollback'),
    { spare: '' },
    `This workflow fulfils an order. The first lines of ${SOURCE_FILE}:`,
    { spare: '' },
    ...shown.map((line) => `  ${/^ *\/\//.test(line) ? dim(line) : line}`),
    dim(`  … ${more} more lines`),
    { spare: '' },
  ]
}
