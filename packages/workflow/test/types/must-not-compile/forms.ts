import { define, unchecked } from '../../../src/definition/index.ts'

const taking = define('taking', { version: 1, input: unchecked<{ readonly id: number }>() })
const base = define('w', { version: 1 })
  .step('a', { run: () => ({ n: 1 }) })
  .step('b', { run: () => 2 })
base.step('c', { run: ({ deps }) => deps.a.n })
base.step('c', { dependsOn: ['b'], run: ({ deps }) => deps.b + deps.a.n })
base.step('c', { run: () => 1, timeout: '5 sec' })
base.sleep('c', { for: '1 hour' })
base.step('c', { run: () => 1, heartbeatTimeout: '5' })
base.workflow('c', taking)
