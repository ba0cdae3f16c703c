import type { StoreKind } from './package-files.ts'

export const orderTs = `import { define, PermanentError, unchecked } from '@belay/workflow'

export interface Order {
  readonly item: string
  readonly to: string
}

/** Each step names the steps that it depends on, and gets their outputs. If a later step fails for good, \`compensate\` undoes it. */
export const order = define('order', { version: 1, input: unchecked<Order>() })
  .step('reserve', {
    run: ({ input }) => {
      console.log(\`reserved \${input.item}\`)
      return { reservation: \`\${input.item}-1\` }
    },
    compensate: ({ output }) => console.log(\`released \${output.reservation}\`),
  })
  .step('charge', {
    dependsOn: ['reserve'],
    // The key is the same for every attempt: give it to the service that charges, which then charges once.
    run: ({ deps, idempotencyKey }) => {
      console.log(\`charged for \${deps.reserve.reservation} with key \${idempotencyKey}\`)
      return { charge: 'ch_1' }
    },
    compensate: ({ output }) => console.log(\`refunded \${output.charge}\`),
  })
  .step('ship', {
    dependsOn: ['charge'],
    run: ({ input }) => {
      if (input.to === 'nowhere') throw new PermanentError('no courier goes there')
      return \`\${input.item} shipped to \${input.to}\`
    },
  })
`

export const orderTestTs = `import { testWorkflow } from '@belay/testing'
import { RunFailedError } from '@belay/workflow'
import { expect, test } from 'vitest'
import { order } from '../src/order.js'

test('an order is shipped', async () => {
  const run = testWorkflow(order, { input: { item: 'rope', to: 'Zurich' } })

  const { ship } = await run.run()

  expect(ship).toBe('rope shipped to Zurich')
})

test('an order that cannot be shipped is refunded and released', async () => {
  const run = testWorkflow(order, { input: { item: 'rope', to: 'nowhere' } })

  await expect(run.run()).rejects.toThrow(RunFailedError)

  expect(run.effects).toEqual(['reserve', 'charge', 'undo charge', 'undo reserve'])
})
`

const STORE = `/** That of compose.yaml, unless the environment names another one. */
export const url = process.env.DATABASE_URL ?? 'postgres://belay:belay@localhost:5432/belay'
`

const CONFIGS: Readonly<Record<StoreKind, string>> = {
  postgres: `import { defineConfig } from '@belay/cli'
import { order } from './src/order.js'
import { url } from './src/store.js'

export default defineConfig({ url, workflows: [order] })
`,
  pglite: `import { defineConfig } from '@belay/cli'
import { order } from './src/order.js'

export default defineConfig({ url: 'pglite:./data', workflows: [order] })
`,
}

/** `belay.config.ts`, with the definition of the project. */
export function config(store: StoreKind): string {
  return CONFIGS[store]
}

/** PostgreSQL: a worker, and a program that starts runs. PGlite: one program, because only one process can open the directory. */
export function programs(name: string, store: StoreKind): readonly (readonly [string, string])[] {
  if (store === 'pglite') return [['src/main.ts', mainTs(name)]]
  return [
    ['src/store.ts', STORE],
    ['src/worker.ts', workerTs(name)],
    ['src/start.ts', startTs],
  ]
}

function workerTs(name: string): string {
  return `import { createEngine, stopOnSignals } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { order } from './order.js'
import { url } from './store.js'

const engine = createEngine({ adapter: postgres(url), workflows: [order], name: '${name}' })
await engine.start()
stopOnSignals(engine, process) // Ctrl-C and SIGTERM: take no new steps, let handlers end, leave
console.log('The worker has started.')
`
}

const RESULT = `
// Where it goes: \`npm start -- nowhere\` fails, and is undone.
const [to = 'Zurich'] = process.argv.slice(2)
const run = await engine.run(order, { item: 'rope', to }, { key: \`order:\${Date.now()}\` })
try {
  const { ship } = await run.result({ timeout: '1m' })
  console.log(ship)
} catch (error) {
  if (!RunFailedError.is(error)) throw error
  console.log(error.message)
} finally {
  await engine.close()
}
console.log(\`npx belay show \${run.id}\`)
`

const startTs = `import { createEngine, RunFailedError } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { order } from './order.js'
import { url } from './store.js'

// It starts a run and waits for it. The worker executes its steps.
const engine = createEngine({ adapter: postgres(url) })
${RESULT}`

function mainTs(name: string): string {
  return `import { createEngine, RunFailedError } from '@belay/workflow'
import { pglite } from '@belay/workflow-postgres/pglite'
import { order } from './order.js'

// Worker and starter in one: only one process at a time can open the directory.
const engine = createEngine({ adapter: pglite('./data'), workflows: [order], name: '${name}' })
await engine.start()
${RESULT}`
}

/** For a project that has its own files: it imports nothing, so that it loads wherever the command line is installed. */
export function plainConfig(store: StoreKind): string {
  const url = store === 'postgres' ? 'process.env.DATABASE_URL' : "'pglite:./data'"
  return `export default { url: ${url}, workflows: [] }\n`
}
