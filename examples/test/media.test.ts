import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPgliteDirectory } from '@belay/postgres-server'
import { pglite } from '@belay/workflow-postgres/pglite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Galleries, WIDTHS } from '../src/media/gallery/index.ts'
import { mediaPart } from '../src/media/media-part.ts'
import { Program } from './program.ts'
import { openTheatre } from './theatre.ts'

const PICTURES = 8 * WIDTHS.length

describe('the gallery demonstration', () => {
  let theatre: Awaited<ReturnType<typeof openTheatre>>
  beforeAll(async () => {
    theatre = await openTheatre()
  })
  afterAll(() => theatre.close())

  test('publishes a gallery, and removes every file of one that may not be published', async () => {
    const { kept, text } = await theatre.perform(mediaPart)

    expect(kept, text).toBe(true)
    // The files themselves, read here and not by the code under test.
    const galleries = new Galleries(join(theatre.filesFolder, 'galleries'))
    expect(await galleries.list('gallery-1-a')).toHaveLength(PICTURES + 2)
    expect(await galleries.measure('gallery-1-a/photo-03-90.jpg')).toEqual([90, 60])
    expect(await galleries.measure('gallery-1-a/contact-sheet.jpg')).toEqual([120, 40])
    expect(await galleries.list('gallery-1-b')).toEqual([])
    const counts = countsOf(await galleries.ledger('gallery-1-b'))
    expect(counts).toEqual({ wrote: PICTURES + 1, removed: PICTURES + 1 })
  })
})

describe('a gallery that is killed half-way', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-media-'))
    await createPgliteDirectory(join(folder, 'database'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const start = () =>
    new Program('start.js', ['--only', 'media', '--folder', join(folder, 'database'), '--pace', '1000'])

  test('is continued without making a finished picture again', async () => {
    const killed = start()
    await killed.says(`of ${PICTURES} pictures`)
    expect((await killed.kill('SIGKILL')).signal).toBe('SIGKILL')
    const galleries = new Galleries(join(folder, 'files', 'galleries'))
    const finished = await finishedPictures(join(folder, 'database'))
    const before = await galleries.ledger('gallery-1-a')

    const { code, out, err } = await start().ended

    expect(code, out + err).toBe(0)
    expect(out).toContain(`${finished.length} items of resize`)
    expect(out).toContain('Every promise was kept.')
    expect(finished.length).toBeGreaterThanOrEqual(8)
    expect(finished.length).toBeLessThan(PICTURES)
    const after = (await galleries.ledger('gallery-1-a')).slice(before.length)
    const madeAgain = after.filter(({ file }) => finished.includes(file))
    expect(madeAgain).toEqual([])
    const written = [...before, ...after].filter(({ what }) => what === 'wrote').map(({ file }) => file)
    expect(new Set(written).size).toBe(written.length)
    expect(await galleries.list('gallery-1-a')).toHaveLength(PICTURES + 2)
  })
})

function countsOf(ledger: Awaited<ReturnType<Galleries['ledger']>>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { what } of ledger) counts[what] = (counts[what] ?? 0) + 1
  return counts
}

/** The files of the items that had completed in the database of a killed process. */
async function finishedPictures(database: string): Promise<readonly string[]> {
  const adapter = pglite(database)
  await adapter.open()
  try {
    const { rows } = await adapter.db.query<{ file: string }>(
      `select output ->> 'file' as file from belay.workflow_step_overview
       where name like 'resize[_%]' and status = 'completed'`,
    )
    return rows.map(({ file }) => file)
  } finally {
    await adapter.close()
  }
}
