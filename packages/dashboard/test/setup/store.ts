import { randomBytes } from 'node:crypto'
import { createEngine, type Engine, type EngineOptions } from '@belay/workflow'
import { migrate, postgres } from '@belay/workflow-postgres'
import { afterAll, inject, onTestFinished } from 'vitest'

export interface TestStore {
  readonly url: string
  /** A migrated schema of its own. */
  readonly schema: string
  /** An engine on it, closed at the end. A worker once it is started. */
  engine(options?: Partial<EngineOptions>): Engine
}

/** A store of its own on the server of the tests. What a whole file shares is closed at its end. */
export async function testStore({
  isShared = false,
}: {
  readonly isShared?: boolean
} = {}): Promise<TestStore> {
  const onEnd = isShared ? afterAll : onTestFinished
  const url = inject('serverUrl')
  const schema = `dashboard_${randomBytes(5).toString('hex')}`
  await migrate(url, { schema })
  return {
    url,
    schema,
    engine(options = {}) {
      // An engine closes its adapter with itself.
      const adapter = postgres(url, { schema, autoMigrate: false, connectionsMax: 5 })
      const engine = createEngine({ adapter, logger: false, tick: '50ms', ...options })
      onEnd(() => engine.close())
      return engine
    },
  }
}
