/** Holds a resource while any worker is registered. */
export class RegisteredWorkers {
  readonly #hold: () => (() => void) | undefined
  readonly #workerIds = new Set<string>()
  #letGo: (() => void) | undefined

  constructor(hold: () => (() => void) | undefined) {
    this.#hold = hold
  }

  add(workerId: string): void {
    this.#workerIds.add(workerId)
    this.#letGo ??= this.#hold()
  }

  delete(workerId: string): void {
    this.#workerIds.delete(workerId)
    if (this.#workerIds.size > 0) return
    this.#letGo?.()
    this.#letGo = undefined
  }
}
