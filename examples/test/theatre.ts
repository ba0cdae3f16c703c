import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPglite } from '@belay/postgres-server'
import { pglite } from '@belay/workflow-postgres/pglite'
import { type Database, databaseOver } from '../src/database.ts'
import type { Part } from '../src/demonstration/part.ts'
import { perform } from '../src/demonstration/perform.ts'
import type { Stage } from '../src/demonstration/stage.ts'
import { type OutputStream, Screen } from '../src/terminal/screen.ts'
import { Paper } from './paper.ts'

/** A database in memory on which parts can be performed repeatedly, with an audience that reads. */
export async function openTheatre() {
  const db = await createPglite()
  const database = databaseOver(db)
  const filesFolder = await mkdtemp(join(tmpdir(), 'belay-files-'))
  return {
    database,
    filesFolder,
    /** `through` wraps the part's database. */
    async perform(
      open: (stage: Stage) => Part,
      through: (database: Database) => Database = (given) => given,
    ) {
      const paper = new Paper()
      const stage: Stage = {
        adapter: pglite(db),
        database: through(database),
        screen: new Screen(paper as unknown as OutputStream),
        filesFolder,
        paceMs: 0,
        sql: true,
        interrupted: new AbortController().signal,
      }
      return { kept: await perform(stage, [open(stage)]), text: paper.text }
    },
    async close() {
      await db.close()
      await rm(filesFolder, { recursive: true, force: true })
    },
  }
}

/** The same database, except that one statement is lost on the way. */
export function losing(database: Database, statement: RegExp): Database {
  return {
    query: (sql, parameters) => (statement.test(sql) ? Promise.resolve([]) : database.query(sql, parameters)),
  }
}
