import { pglite } from '@belay/workflow-postgres/pglite'
import { type Database, databaseOver } from '../src/database.ts'
import type { Stage } from '../src/demonstration/stage.ts'
import { type OutputStream, Screen } from '../src/terminal/screen.ts'

/** A stage in memory whose screen is a text. */
export async function openStage() {
  const adapter = pglite()
  await adapter.open()
  const paper = new Paper()
  const stage: Stage = {
    adapter,
    database: databaseOver(adapter.db),
    screen: new Screen(paper as unknown as OutputStream),
    paceMs: 0,
    interrupted: new AbortController().signal,
  }
  return { stage, paper, close: () => adapter.close() }
}

/** Keeps what is written on it. */
export class Paper {
  text = ''
  readonly isTTY: boolean
  readonly columns = 100
  readonly rows = 40

  constructor({ isTTY = false }: { readonly isTTY?: boolean } = {}) {
    this.isTTY = isTTY
  }

  write(text: string): boolean {
    this.text += text
    return true
  }
}

/** The database as it is, but for one statement, which is lost on the way. */
export function losing(database: Database, statement: RegExp): Database {
  return {
    query: (sql, parameters) => (statement.test(sql) ? Promise.resolve([]) : database.query(sql, parameters)),
  }
}
