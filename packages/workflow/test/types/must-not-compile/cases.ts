import { define } from '../../../src/definition/index.ts'

const base = define('w', { version: 1 })
  .step('load', { run: () => 1 })
  .choose('method', { on: () => 'card', cases: ['card', 'invoice'] })
const run = () => 1
base.step('a', { when: { method: 'crad' }, run })
base.step('b', { when: { method: ['card', 'cash'] }, run })
base.step('c', { when: { load: 'card' }, run })
base.step('d', { when: { way: 'card' }, run })
