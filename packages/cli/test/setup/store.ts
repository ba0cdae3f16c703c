import { randomBytes } from 'node:crypto'
import { createEngine, type Engine, type EngineOptions } from '@belay/workflow'
import { migrate, type PostgresAdapter, postgres } from '@belay/workflow-postgres'
import { afterAll, inject, onTestFinished } from 'vitest'

export interface TestStore {
  /** A URL of the server; the schema is apart. */
  readonly url: string
  /** A migrated schema of its own. */
  readonly schema: string
  readonly adapter: PostgresAdapter
  /** The environment in which `belay` finds the store. */
  readonly env: Readonly<Record<string, string>>
  /** An engine on it, closed when the test has finished. A worker once it is started. */
  engine(options?: Partial<EngineOptions>): Engine
}

/** A store of its own on the server of the tests. Give `--schema` and `env` to the command line. */
export async function testStore({
  isShared = false,
}: {
  readonly isShared?: boolean
} = {}): Promise<TestStore> {
  // What a whole file uses is closed at its end; everything else when its test has finished.
  const onEnd = isShared ? afterAll : onTestFinished
  const url = inject('serverUrl')
  const schema = `cli_${randomBytes(5).toString('hex')}`
  await migrate(url, { schema })
  const adapter = postgres(url, { schema, autoMigrate: false })
  onEnd(() => adapter.close())
  return {
    url,
    schema,
    adapter,
    env: { DATABASE_URL: url, BELAY_SCHEMA: schema },
    engine(options = {}) {
      // An engine closes its adapter with itself.
      const own = postgres(url, { schema, autoMigrate: false, connectionsMax: 5 })
      const engine = createEngine({ adapter: own, logger: false, tick: '50ms', ...options })
      onEnd(() => engine.close())
      return engine
    },
  }
}
