/** Waits for `work`, but no longer than `limitMs`; then it throws what `late` returns. The work continues, but its result is ignored. */
export function within<Result>(limitMs: number, work: Promise<Result>, late: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
