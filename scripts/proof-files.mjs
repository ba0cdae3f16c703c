/**
 * What proves by quantity, or installs and starts much: `npm test` leaves it out, and CI runs it. Each file is a path, or its beginning.
 * @type {Readonly<Record<string, { readonly proves: string, readonly files: readonly string[] }>>}
 */
export const PROOFS = {
  orders: {
    proves: 'two callers of the store in every order of their statements; npm run orders has more of them',
    files: ['packages/workflow-postgres/test/interleavings'],
  },
  kills: {
    proves: 'workers that are killed at calls of the store; npm run kills has more of them',
    files: [
      'packages/workflow-postgres/test/kill-points',
      'packages/workflow-postgres/test/processes/crash',
      'packages/workflow-postgres/test/processes/ledger',
    ],
  },
  worlds: {
    proves: 'simulated worlds, and that they notice broken stores; npm run sim has any number of them',
    files: ['packages/testing/test/simulation', 'tools/simulation/test'],
  },
  hostile: {
    proves: 'hostile values at every place where values enter',
    files: ['packages/workflow-postgres/test/hostile'],
  },
  libraries: {
    proves: 'transactions of all clients and ORMs that the documentation names',
    files: [
      'packages/workflow-postgres/test/given/libraries',
      'packages/workflow-postgres/test/given/silent-libraries',
    ],
  },
  examples: {
    proves: 'the examples, the tour and the web frameworks, as processes on real servers',
    files: ['examples/test'],
  },
  releases: {
    proves: 'processes of the release before beside those of this one',
    files: [
      'packages/workflow-postgres/test/previous-release',
      'packages/workflow-postgres/test/rolling-upgrade',
    ],
  },
}
