import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvPart } from '../src/csv/csv-part.ts'
import { losing, openTheatre } from './theatre.ts'

let theatre: Awaited<ReturnType<typeof openTheatre>>
beforeAll(async () => {
  theatre = await openTheatre()
})
afterAll(() => theatre.close())

test('the good rows of a file are loaded and the bad ones listed, or everything is undone', async () => {
  const { kept, text } = await theatre.perform(csvPart)

  expect(kept, text).toBe(true)
  // The rows, read here and not by the code under test.
  const { database } = theatre
  expect(await database.query('select import, count(*)::int as rows from towns.towns group by 1')).toEqual([
    { import: 'towns-1-a', rows: 22_751 },
  ])
  // Of the range that failed, no row was loaded, not even a good one.
  expect(
    await database.query('select count(*)::int as rows from towns.towns where line between 12002 and 13001'),
  ).toEqual([{ rows: 0 }])
  expect(await database.query('select import, line from towns.bad_rows order by 1, 2')).toEqual(
    ['towns-1-a', 'towns-1-b'].flatMap((name) =>
      [1_200, 5_678, 20_001].map((line) => ({ import: name, line })),
    ),
  )
  expect(text).toContain('Not loaded: lines 12002 to 13001: 700 are bad; line 12100 has not the six columns')
  expect(text).toMatch(/5678 \| latitude: Too big/)
})

test('notices when an undo did not do what it promised', async () => {
  const { kept, text } = await theatre.perform(csvPart, (database) => losing(database, /^delete from towns/))

  expect(kept).toBe(false)
  expect(text).toContain('✘ none of its rows is in the table')
})
