/**
 * The async context in which an engine works on its own: that of `start()`. Whatever wakes a loop, a handler sees neither the context of that caller nor
 * what another handler left there with `enterWith()`. Before `start()`, and in a runtime without async contexts, functions are called as they are.
 */
export class Context {
  #origin: AsyncScope | undefined
  #make: (() => void) | undefined
  /** Made ahead: entering the origin costs as much as the rest. */
  #unused: AsyncScope[] = []

  /** From now on, functions run in the context of this call. */
  capture(): void {
    const AsyncResource = asyncScopes()
    if (AsyncResource === undefined) return
    this.#unused = []
    this.#origin = new AsyncResource('BelayEngine')
    this.#make = () => {
      for (let made = 0; made < AHEAD; made += 1) this.#unused.push(new AsyncResource('BelayCall'))
    }
  }

  /**
   * Calls a function in a context of its own. Each call has a new one: before Node 24, `enterWith()` writes into the scope in which it is called, so what
   * a function leaves in a shared scope, as that of `AsyncLocalStorage.snapshot()`, would reach all later ones.
   */
  run<Result>(work: () => Result): Result {
    if (this.#origin === undefined) return work()
    if (this.#unused.length === 0) this.#origin.runInAsyncScope(this.#make!)
    return this.#unused.pop()!.runInAsyncScope(work)
  }
}

const AHEAD = 64

interface AsyncScope {
  runInAsyncScope<Result>(work: () => Result): Result
}

interface Builtins {
  getBuiltinModule?(name: 'node:async_hooks'): { readonly AsyncResource?: new (type: string) => AsyncScope }
}

/** Asked for at run time: the core has no imports of Node's, because it also runs in browsers. Node from 20.16 on, Deno and Bun have it. */
function asyncScopes(): (new (type: string) => AsyncScope) | undefined {
  const { process } = globalThis as { readonly process?: Builtins }
  return process?.getBuiltinModule?.('node:async_hooks')?.AsyncResource
}
