export const never = new Promise<never>(() => {})

/** How functions of the user misbehave. */
export const WAYS: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('it threw')
  },
  rejects: () => Promise.reject(new Error('it rejected')),
  hangs: () => never,
  'returns nonsense': () => Symbol('nonsense'),
  'throws what cannot be read': () => {
    throw new Proxy({}, { get: trap, getPrototypeOf: trap })
  },
  'returns what cannot be read': () => new Proxy({}, { get: trap, getPrototypeOf: trap }),
}

function trap(): never {
  throw new Error('trap')
}
