/** Waits for something, but no longer than this; then it throws what `late` makes. The work itself goes on, and nobody hears of its end. */
export function within<Result>(limitMs: number, work: Promise<Result>, late: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
