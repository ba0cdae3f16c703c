import { define } from '../../../src/definition/index.ts'

const base = define('w', { version: 1 }).step('reserveStock', { run: () => 1 })

base.step('unknown', { dependsOn: ['reserveStok'], run: () => 2 })
base.step('own', { dependsOn: ['reserveStock', 'own'], run: () => 2 })
base.step('early', { dependsOn: ['late'], run: () => 2 }).step('late', { run: () => 3 })
base.step('reserveStock', { run: () => 2 })
define('w', { version: 1 }).step('first', { dependsOn: ['second'], run: () => 2 })
