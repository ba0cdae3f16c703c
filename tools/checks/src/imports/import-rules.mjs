/**
 * Who may import whom: `definition → graph → port`, the engine above them, adapters beside it on the port alone, and no I/O in the core.
 *
 * @typedef {object} Room
 * @property {string} name
 * @property {RegExp} files paths below the package's `src`; the first room that matches owns a file
 * @property {readonly string[]} mayImport names of rooms
 *
 * @typedef {object} PackageRules
 * @property {string} folder
 * @property {readonly Room[]} [rooms] each file stands in one; without rooms every folder and every file beside the folders is a room, and only cycles are wrong
 * @property {boolean} [builtins] whether Node's own modules may be imported
 * @property {boolean} [circlesOnly] only circles among files are wrong
 * @property {readonly ExternalRule[]} externals the first rule that matches decides; what none matches is allowed
 *
 * @typedef {object} ExternalRule
 * @property {RegExp} module
 * @property {RegExp} [except] paths below `src` that the rule leaves alone
 * @property {boolean} [typesAllowed] types are gone at run time, so importing them loads nothing
 * @property {string | null} because why it is wrong; null allows it
 */

const BELOW_THE_ENGINE = ['base', 'options', 'adapter', 'graph', 'definition']

/**
 * The rooms of the engine, from the bottom up, and what each may import.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const ENGINE_ROOMS = {
  base: [],
  decisions: ['base'],
  runs: ['base'],
  start: ['base'],
  diagnosis: ['base', 'decisions', 'start'],
  attempt: ['base', 'decisions'],
  worker: ['base', 'decisions', 'attempt'],
  control: ['base', 'decisions', 'runs', 'diagnosis'],
  signals: ['base', 'decisions', 'runs', 'control'],
  retention: ['base', 'runs', 'control'],
  schedules: ['base', 'start'],
  children: ['base', 'decisions', 'runs', 'start', 'attempt', 'control'],
  handles: ['base', 'runs', 'start', 'control', 'signals', 'retention', 'diagnosis'],
}

/** @type {readonly Room[]} */
const CORE_ROOMS = [
  { name: 'index', files: /^index\.ts$/, mayImport: [...BELOW_THE_ENGINE, 'engine'] },
  ...Object.entries(ENGINE_ROOMS).map(([room, others]) => ({
    name: `engine/${room}`,
    files: new RegExp(`^engine/${room}/`),
    mayImport: [...BELOW_THE_ENGINE, ...others.map((other) => `engine/${other}`)],
  })),
  // What calls handlers for the new engine.
  {
    name: 'engine/asker',
    files: /^engine\/asker\//,
    mayImport: [
      ...BELOW_THE_ENGINE,
      ...['base', 'decisions', 'attempt', 'start', 'children'].map((room) => `engine/${room}`),
      ...['machine', 'store', 'owner'],
    ],
  },
  // The new engine beneath the public API.
  {
    name: 'engine/owned',
    files: /^engine\/owned\//,
    mayImport: [
      ...BELOW_THE_ENGINE,
      ...['asker', 'base', 'control', 'runs', 'worker'].map((room) => `engine/${room}`),
      ...['machine', 'machine/spec-of-shape', 'store', 'owner'],
    ],
  },
  {
    name: 'engine',
    files: /^engine\/[^/]+\.ts$/,
    mayImport: [...BELOW_THE_ENGINE, ...Object.keys(ENGINE_ROOMS).map((room) => `engine/${room}`)],
  },
  // Pure: the rules of a run, which nothing outside of it is needed to decide.
  // A kind knows the rules, and no rule knows a kind: only what reads a stored definition names them.
  { name: 'machine/kinds', files: /^machine\/kinds\//, mayImport: ['base', 'adapter', 'machine'] },
  {
    name: 'machine/spec-of-shape',
    files: /^machine\/spec-of-shape\.ts$/,
    mayImport: ['base', 'adapter', 'graph', 'machine', 'machine/kinds'],
  },
  { name: 'machine', files: /^machine\//, mayImport: ['base', 'adapter'] },
  { name: 'store', files: /^store\//, mayImport: ['base', 'adapter', 'machine'] },
  { name: 'owner', files: /^owner\//, mayImport: ['base', 'adapter', 'machine', 'store', 'engine/base'] },
  { name: 'definition', files: /^definition\//, mayImport: ['base', 'options', 'adapter', 'graph'] },
  { name: 'graph', files: /^graph\//, mayImport: ['base', 'options', 'adapter'] },
  { name: 'adapter', files: /^adapter\//, mayImport: ['base', 'options'] },
  { name: 'options', files: /^options\//, mayImport: ['base'] },
  { name: 'base', files: /^[^/]+\.ts$/, mayImport: [] },
]

const BELOW_THE_SQL = ['base', 'schema', 'connection', 'rows', 'store']

/**
 * The rooms of the SQL adapters, from the bottom up. Statements are grouped in rooms by purpose; these rooms do not import each other.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const SQL_ROOMS = {
  base: [],
  connection: ['base', 'schema'],
  rows: ['base', 'connection'],
  store: ['base', 'connection'],
  given: ['base', 'connection', 'store'],
  claim: BELOW_THE_SQL,
  settle: BELOW_THE_SQL,
  start: BELOW_THE_SQL,
  undo: BELOW_THE_SQL,
  control: BELOW_THE_SQL,
  signals: BELOW_THE_SQL,
  read: BELOW_THE_SQL,
  workers: BELOW_THE_SQL,
  limits: BELOW_THE_SQL,
  retention: BELOW_THE_SQL,
  values: BELOW_THE_SQL,
  ends: BELOW_THE_SQL,
  // A schedule's firing starts its run in the statement's own transaction.
  schedules: [...BELOW_THE_SQL, 'start', 'control', 'workers'],
  transact: [...BELOW_THE_SQL, 'settle', 'values'],
  migrate: BELOW_THE_SQL,
  // The verbs of the new engine’s store.
  statements: ['base', 'connection', 'store', 'migrate', 'tables', 'adapter'],
}

/** @type {readonly Room[]} */
const POSTGRES_ROOMS = [
  ...Object.entries(SQL_ROOMS).map(([room, mayImport]) => ({
    name: room,
    files: new RegExp(`^${room}/`),
    mayImport,
  })),
  { name: 'schema', files: /^(schema\/|schema-name\.ts$)/, mayImport: [] },
  { name: 'tables', files: /^tables\//, mayImport: ['schema'] },
  { name: 'adapter', files: /^(adapter|open-store)\.ts$/, mayImport: ['schema', ...Object.keys(SQL_ROOMS)] },
  {
    name: 'drivers',
    files: /^(postgres|pglite)\//,
    mayImport: [
      'base',
      'schema',
      'connection',
      'store',
      'given',
      'workers',
      'transact',
      'migrate',
      'adapter',
      'statements',
    ],
  },
  { name: 'index', files: /^(index|pglite)\.ts$/, mayImport: ['adapter', 'drivers', 'given', 'migrate'] },
]

const THROUGH_ITS_DOORS =
  'the core is imported as @belay/workflow or @belay/workflow/adapter, never by a path inside it'
const LOADS_THE_ENGINE =
  'an adapter imports the port (@belay/workflow/adapter): this would load the engine with it'

/** @type {readonly PackageRules[]} */
export const RULES = [
  {
    folder: 'packages/workflow',
    rooms: CORE_ROOMS,
    builtins: false,
    externals: [
      { module: /^@belay\//, because: 'the core imports no other package of this repository' },
      {
        module: /^(pg|pg-[^/]+|postgres|drizzle-[^/]+|@electric-sql\/[^/]+)(\/|$)/,
        because: 'the core knows no database: that belongs to an adapter',
      },
    ],
  },
  {
    folder: 'packages/workflow-postgres',
    rooms: POSTGRES_ROOMS,
    builtins: true,
    externals: [
      { module: /^@belay\/workflow\/(adapter|store)$/, because: null },
      { module: /^@belay\/workflow$/, typesAllowed: true, because: LOADS_THE_ENGINE },
      { module: /^@belay\/workflow\//, because: THROUGH_ITS_DOORS },
      { module: /^@belay\/testing/, because: 'a published adapter does not depend on the test kit' },
    ],
  },
  {
    folder: 'packages/testing',
    builtins: true,
    externals: [
      { module: /^@belay\/workflow\/(adapter|store)$/, because: null },
      // The simulation and tested workflows run engines, and the conformance suite asks one to act on runs: the core decides the result of an action.
      {
        module: /^@belay\/workflow$/,
        except: /^(simulation|conformance|workflow|rollback)\//,
        typesAllowed: true,
        because: LOADS_THE_ENGINE,
      },
      { module: /^@belay\/workflow$/, because: null },
      { module: /^@belay\/workflow\//, because: THROUGH_ITS_DOORS },
      { module: /^@belay\//, because: 'the test kit depends on the core alone' },
    ],
  },
  {
    folder: 'packages/cli',
    builtins: true,
    externals: [
      { module: /^@belay\/workflow\/(adapter|store)$/, because: null },
      { module: /^@belay\/workflow\//, because: THROUGH_ITS_DOORS },
      { module: /^@belay\/testing/, because: 'a published surface does not depend on the test kit' },
      { module: /^(pg|drizzle-[^/]+)(\/|$)/, because: 'a surface knows no database: it asks the engine' },
    ],
  },
  {
    folder: 'packages/opentelemetry',
    builtins: true,
    externals: [
      { module: /^@belay\/workflow\//, because: THROUGH_ITS_DOORS },
      { module: /^@belay\/workflow$/, because: null },
      { module: /^@belay\//, because: 'a published surface depends on the core alone' },
      {
        module: /^@opentelemetry\/(?!api$)/,
        because: 'an SDK is the application’s own: the package depends on the API alone',
      },
    ],
  },
  {
    folder: 'packages/graph-view',
    externals: [{ module: /./, because: 'it is drawn in browsers and in tests: it needs nothing' }],
  },
  {
    folder: 'packages/dashboard',
    builtins: true,
    externals: [
      { module: /^@belay\/workflow\//, because: THROUGH_ITS_DOORS },
      { module: /^@belay\/workflow$/, because: null },
      { module: /^@belay\/graph-view$/, because: null },
      { module: /^@belay\//, because: 'a published surface depends on the core alone' },
      { module: /^(pg|drizzle-[^/]+)(\/|$)/, because: 'a surface knows no database: it asks the engine' },
    ],
  },
  // What stands beside the packages, and the dashboard's page: no rooms to keep apart, but no circle either.
  ...[
    'packages/dashboard/ui',
    'bench',
    'bench/peers',
    'examples',
    'examples/frameworks',
    'playground',
    'tools/chaos',
    'tools/limits-soak',
    'tools/packed/consumer',
    'tools/postgres-server',
    'tools/simulation',
  ].map((folder) => ({
    folder,
    circlesOnly: true,
    externals: [],
  })),
]
