import type { PGliteInterface, Transaction } from '@electric-sql/pglite'
import { type Call, type CallAnswer, errorOf } from '../messages.ts'

type Without<T> = T extends unknown ? Omit<T, 'id'> : never

/** A database in another thread, as `pglite()` of Belay takes it. Its transaction is rolled back if this thread dies: see `holdLock`. */
export function databaseOver(port: MessagePort): PGliteInterface {
  const calls = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  let count = 0
  port.onmessage = ({ data }: MessageEvent<CallAnswer>) => {
    const waiting = calls.get(data.id)
    calls.delete(data.id)
    if ('problem' in data) waiting?.reject(errorOf(data.problem))
    else waiting?.resolve(data.value as never)
  }
  const ask = <Value>(call: Without<Call>): Promise<Value> => {
    const id = ++count
    return new Promise<Value>((resolve, reject) => {
      calls.set(id, { resolve, reject })
      port.postMessage({ ...call, id })
    })
  }
  const session = (within?: number) => ({
    query: (text: string, values?: readonly unknown[]) => ask({ call: 'query', text, values, within }),
    exec: (text: string) => ask({ call: 'exec', text, within }),
  })

  async function transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const within = await ask<number>({ call: 'begin' })
    let closed = false
    const tx = {
      ...session(within),
      get closed() {
        return closed
      },
    } as unknown as Transaction
    try {
      const result = await work(tx)
      closed = true
      await ask({ call: 'commit', within })
      return result
    } catch (error) {
      // After a commit that failed there is nothing left to roll back, and the database says so.
      if (!closed) await ask({ call: 'rollback', within }).catch(() => {})
      closed = true
      throw error
    }
  }

  return { waitReady: Promise.resolve(), ...session(), transaction } as unknown as PGliteInterface
}

/** Holds a lock as long as this thread lives, which is how the database learns of its death. */
export function holdLock(name: string): Promise<void> {
  return new Promise((held) => {
    void navigator.locks.request(name, () => {
      held()
      return new Promise(() => {})
    })
  })
}
