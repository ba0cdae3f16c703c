/** Waits for `work`, but no longer than `limitMs`; then it throws what `late` returns or throws. The work continues, but its result is ignored. */
export function within<Result>(limitMs: number, work: Promise<Result>, late: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        reject(late())
      } catch (error) {
        reject(error)
      }
    }, limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
