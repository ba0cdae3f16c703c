import { HOSTILE_VALUES } from './values.ts'

type Make = () => unknown

const refuse = (): never => {
  throw new Error('a trap of the caller')
}
const reject = async () => refuse()
const unreadable = () => new Proxy(new Error('hostile'), { get: refuse, has: refuse, getPrototypeOf: refuse })

/** What a query() may do that is not what a database does. */
const ANSWERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ['throws', refuse],
  ['rejects', reject],
  ['rejects with nothing', () => Promise.reject()],
  ['rejects with what cannot be read', () => Promise.reject(unreadable())],
  [
    'rejects with a code that is none',
    () => Promise.reject(Object.assign(new Error('x'), { code: 40001, cause: 1 })),
  ],
  ['returns nothing', () => undefined],
  ['resolves to nothing', async () => undefined],
  ['resolves to null', async () => null],
  ['resolves to a number', async () => 7],
  ['resolves to rows', async () => []],
  ['resolves to a result without rows', async () => ({ rows: null })],
  ['resolves to numbers for rows', async () => ({ rows: [1] })],
  ['resolves to rows of other columns', async () => ({ rows: [{ one: 1 }] })],
  ['resolves to rows that are no JSON', async () => ({ rows: [{ belay: '{' }] })],
  ['resolves to rows of null', async () => ({ rows: [{ belay: 'null' }] })],
  [
    'resolves to what cannot be read',
    async () => new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : refuse()) }),
  ],
]

type Answer = (text: string) => unknown

/** Objects with the shapes of the libraries' transactions. */
const SHAPES: readonly (readonly [string, (answer: Answer) => unknown])[] = [
  ['a query()', (query) => ({ query })],
  ['a session of drizzle', (query) => ({ session: { client: { query } } })],
  ['a client of pg', (query) => ({ query, connectionParameters: {} })],
  ['a tx of a step', (query) => ({ client: { query }, drizzle: {} })],
  ['Prisma', (answer) => ({ $queryRawUnsafe: answer, $executeRawUnsafe: answer })],
  ['Kysely', (executeQuery) => kysely({ executeQuery })],
  ['postgres.js', (unsafe) => Object.assign(() => {}, { unsafe, notify: refuse, typed: refuse })],
  [
    'postgres.js with savepoints',
    (savepoint) => Object.assign(() => {}, { unsafe: reject, notify: refuse, typed: refuse, savepoint }),
  ],
  [
    'Knex',
    (acquireConnection) =>
      Object.assign(() => {}, {
        raw: refuse,
        transaction: refuse,
        isTransaction: true,
        client: { acquireConnection },
      }),
  ],
  [
    'a QueryRunner',
    (connect) => ({ connect, startTransaction: refuse, isTransactionActive: true, query: refuse }),
  ],
  [
    'an EntityManager',
    (connect) => ({
      getRepository: refuse,
      transaction: refuse,
      queryRunner: { connect, startTransaction: refuse, isTransactionActive: true },
    }),
  ],
]

const PROXIES: readonly (readonly [string, Make])[] = [
  ['a Proxy that has everything', () => new Proxy({}, { has: () => true })],
  ['a Proxy of which everything is a function', () => new Proxy({}, { get: () => () => undefined })],
  ['a Proxy of which everything is a number', () => new Proxy({}, { get: () => 1, has: () => true })],
  ['a Proxy of which everything is itself', () => itself()],
  ['a session that throws', () => Object.defineProperty({}, 'session', { get: refuse })],
  ['a session without a client', () => ({ session: null })],
  [
    'Kysely without a way around its plugins',
    () => ({ ...kysely({}), withoutPlugins: () => null, executeQuery: reject }),
  ],
]

function kysely(own: object): object {
  const tx = { isTransaction: true, executeQuery: refuse, ...own }
  return { ...tx, withoutPlugins: () => tx }
}

function itself(): unknown {
  const proxy: unknown = new Proxy(() => {}, { get: () => proxy, apply: () => proxy })
  return proxy
}

/** Values that nobody should give as `tx`: those that nobody should give as anything, and what only looks like a transaction. */
export const HOSTILE_TRANSACTIONS: readonly (readonly [string, Make])[] = [
  ...HOSTILE_VALUES,
  ...PROXIES,
  ...SHAPES.flatMap(([shape, make]) =>
    ANSWERS.map(([answer, how]) => [`${shape} that ${answer}`, () => make(how)] as const),
  ),
]
