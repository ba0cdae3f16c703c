import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

const ROWS = 100_000
const CLIENTS = 4

export interface Reference {
  /** Which program made the updates. */
  readonly by: 'pgbench' | 'node'
  readonly updatesPerSecond: number
}

export async function prepareReference(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(
    'create table reference_rows (id int primary key, value int not null) with (fillfactor = 50)',
  )
  await client.query(`insert into reference_rows select n, 0 from generate_series(1, ${ROWS}) n`)
  await client.query('vacuum analyze reference_rows')
  await client.end()
}

/** How much to measure: for a time, or a number of updates. */
export type MeasureLength = { readonly seconds: number } | { readonly updatesPerClient: number }

/** Single-row updates by primary key per second, with four clients: the cost of one commit per row on this server, right now. */
export async function measureReference(url: string, length: MeasureLength): Promise<Reference> {
  return measureWithPgbench(url, length) ?? (await measureWithNode(url, length))
}

function measureWithPgbench(url: string, length: MeasureLength): Reference | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'belay-bench-'))
  try {
    const script = join(folder, 'update.sql')
    writeFileSync(
      script,
      `\\set id random(1, ${ROWS})\nupdate reference_rows set value = value + 1 where id = :id;\n`,
    )
    const args = [
      '-n',
      '-M',
      'prepared',
      '-c',
      String(CLIENTS),
      '-j',
      '1',
      ...('seconds' in length ? ['-T', String(length.seconds)] : ['-t', String(length.updatesPerClient)]),
      '-f',
      script,
      url,
    ]
    const { status, stdout } = spawnSync('pgbench', args, { encoding: 'utf8' })
    const tps = status === 0 ? /tps = ([\d.]+)/.exec(stdout)?.[1] : undefined
    return tps === undefined ? undefined : { by: 'pgbench', updatesPerSecond: Number(tps) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** For machines without pgbench. Slower than pgbench, because Node does the clients' work: never compare the two. */
async function measureWithNode(url: string, length: MeasureLength): Promise<Reference> {
  const startedAt = performance.now()
  const endsAt = 'seconds' in length ? startedAt + length.seconds * 1_000 : Number.POSITIVE_INFINITY
  const updatesMax = 'seconds' in length ? Number.POSITIVE_INFINITY : length.updatesPerClient
  const counts = await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const client = new pg.Client(url)
      await client.connect()
      let count = 0
      for (; count < updatesMax && performance.now() < endsAt; count += 1) {
        const id = 1 + Math.floor(Math.random() * ROWS)
        await client.query({
          name: 'update',
          text: 'update reference_rows set value = value + 1 where id = $1',
          values: [id],
        })
      }
      await client.end()
      return count
    }),
  )
  const seconds = (performance.now() - startedAt) / 1_000
  return { by: 'node', updatesPerSecond: counts.reduce((sum, count) => sum + count, 0) / seconds }
}
