import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listText } from '../src/connection/list-text.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const WORDS = [
  'plain',
  '01920000-0000-7000-8000-000000000001',
  '',
  ' ',
  'NULL',
  'null',
  'NuLl',
  'nullable',
  'a,b',
  '{a}',
  '"',
  '\\',
  '\\"',
  'line\nbreak',
  'tab\t',
  "it's",
  '{"json":["\\"",1,null]}',
  'ünïcödé 🎉',
  '$1',
  '-1.5e+3',
  null,
]

describe.each(servers)('a list as text, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  const read = async (text: string, type: string) => {
    const { rows } = await database.pool.query(`select to_json($1::${type}[]) as list`, [text])
    return rows[0].list
  }

  it('is read as the words from which it was made', async () => {
    expect(await read(listText(WORDS), 'text')).toEqual(WORDS)
    for (const word of WORDS) expect(await read(listText([word]), 'text'), String(word)).toEqual([word])
  })

  it('is read the same as pg’s own text for it', async () => {
    const { rows } = await database.pool.query('select $1::text[] = $2::text[] as same', [
      WORDS,
      listText(WORDS),
    ])
    expect(rows).toEqual([{ same: true }])
  })

  it('may be empty, or consist of numbers or booleans', async () => {
    expect(await read(listText([]), 'text')).toEqual([])
    expect(await read(listText([1, -2, 1.5, 1e21, null]), 'float8')).toEqual([1, -2, 1.5, 1e21, null])
    expect(await read(listText([true, false, undefined]), 'bool')).toEqual([true, false, null])
  })
})
