import { setImmediate as others } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/**
 * Works on pixels when it is its turn. JavaScript has one thread: twenty pictures in a row would hold up everything else in this process for seconds,
 * the renewal of its worker's lease too. So other work comes between any two pictures.
 */
export function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const turn = last.then(() => others()).then(work)
  last = turn.catch(() => {})
  return turn
}
