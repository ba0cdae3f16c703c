const refuse = (): never => {
  throw new Error('a trap of the caller')
}

/** Values that nobody should give, but that somebody will. Made anew for each call, because a function may change its arguments. */
export const HOSTILE_VALUES: readonly (readonly [string, () => unknown])[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['true', () => true],
  ['false', () => false],
  ['0', () => 0],
  ['-0', () => -0],
  ['-1', () => -1],
  ['1.5', () => 1.5],
  ['NaN', () => Number.NaN],
  ['Infinity', () => Number.POSITIVE_INFINITY],
  ['-Infinity', () => Number.NEGATIVE_INFINITY],
  ['2 ** 53', () => 2 ** 53],
  ['1e308', () => 1e308],
  ['a bigint', () => 10n],
  ['a symbol', () => Symbol('hostile')],
  ['an empty string', () => ''],
  ['a space', () => ' '],
  ['NUL', () => 'a\0b'],
  ['a line break', () => 'a\nb'],
  ['half a surrogate pair', () => 'k\ud800'],
  ['the other half', () => '\udc00k'],
  ['an emoji', () => '💥'],
  ['10,000 characters', () => 'x'.repeat(10_000)],
  ['513 characters', () => 'x'.repeat(513)],
  ['a quote and a comment', () => `'; drop table x; --`],
  ['a backslash', () => '\\'],
  ['__proto__', () => '__proto__'],
  ['constructor', () => 'constructor'],
  ['toString', () => 'toString'],
  ['a number as a string', () => '5'],
  ['a negative duration', () => '-5s'],
  ['a huge duration', () => `${'9'.repeat(400)}d`],
  ['a day that does not exist', () => '2026-02-30'],
  ['a date without an offset', () => '2026-01-01T00:00'],
  ['the id of nothing', () => '01890a5d-ac96-774b-bcce-b302099a8057'],
  ['a url with a password', () => 'postgres://user:secret@127.0.0.1:1/x'],
  ['an invalid Date', () => new Date(Number.NaN)],
  ['the first Date there is', () => new Date(-8.64e15)],
  ['the last Date there is', () => new Date(8.64e15)],
  ['an empty array', () => []],
  ['an array of undefined', () => [undefined]],
  ['an array with a hole', () => new Array(1)],
  ['an array of null', () => [null]],
  ['an array of arrays', () => [[]]],
  ['an array of names', () => ['a', 'a']],
  ['an empty object', () => ({})],
  ['an object with an unknown name', () => ({ hostile: 1 })],
  ['an object without a prototype', () => Object.create(null)],
  ['an own __proto__', () => JSON.parse('{"__proto__":{"a":1}}')],
  ['an object that names itself', named],
  ['a cycle', cycle],
  ['a getter that throws', () => Object.defineProperty({}, 'a', { get: refuse, enumerable: true })],
  ['a toString that throws', () => ({ toString: refuse, toJSON: refuse, valueOf: refuse })],
  ['a Proxy that refuses everything', () => new Proxy({}, traps())],
  ['a Proxy of a function', () => new Proxy(() => {}, { get: refuse, getPrototypeOf: refuse })],
  ['a revoked Proxy', revoked],
  ['a thenable', () => Object.defineProperty({}, 'then', { value: undefined })],
  ['a Promise', () => Promise.resolve(1)],
  ['a function', () => () => {}],
  ['a function that throws', () => refuse],
  ['a class', () => class Hostile {}],
  ['a Map', () => new Map([['a', 1]])],
  ['a Set', () => new Set(['a'])],
  ['a RegExp', () => /a/g],
  ['an Error', () => new Error('hostile')],
  ['bytes', () => new Uint8Array(3)],
  ['an AbortSignal', () => AbortSignal.abort()],
]

function named(): unknown {
  return { name: 'a', version: 1, record: {}, id: {}, key: {}, workflow: {}, steps: {} }
}

function cycle(): unknown {
  const own: Record<string, unknown> = {}
  own['own'] = own
  return own
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function traps(): ProxyHandler<object> {
  return {
    get: refuse,
    has: refuse,
    ownKeys: refuse,
    getPrototypeOf: refuse,
    getOwnPropertyDescriptor: refuse,
  }
}
