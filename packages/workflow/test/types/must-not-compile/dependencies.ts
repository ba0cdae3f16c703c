import { define, defineGraph } from '../../../src/definition/index.ts'

const base = define('w', { version: 1 })
  .step('a', { run: () => 1 })
  .step('b', { run: () => 2 })

base.step('twice', { dependsOn: ['a', 'b', 'a'], run: () => 3 })
base.sleep('nap', { dependsOn: ['b', 'b'], for: '1s' })
defineGraph('w', { steps: { a: { handler: 'work' } }, dag: { z: ['a'] } })
defineGraph('w', { steps: { a: { handler: 'work' } }, dag: { a: ['aa'] } })
