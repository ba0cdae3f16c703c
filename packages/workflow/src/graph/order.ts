/**
 * Kahn's topological order: always takes the smallest node whose dependencies have all been taken. Shorter than the graph if there is a cycle.
 * Iterative, because a chain of thousands would overflow the stack.
 */
export function topologicalOrder(
  dependencies: readonly (readonly number[])[],
  dependents: readonly (readonly number[])[],
): number[] {
  const open = dependencies.map((list) => list.length)
  const free = new MinHeap()
  open.forEach((count, node) => {
    if (count === 0) free.push(node)
  })
  const order: number[] = []
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    order.push(node)
    for (const dependent of dependents[node]!) {
      open[dependent] = open[dependent]! - 1
      if (open[dependent] === 0) free.push(dependent)
    }
  }
  return order
}

/** A priority queue of numbers. Sorting a list at every step would take quadratic time for a fan of thousands. */
class MinHeap {
  readonly #items: number[] = []

  push(item: number): void {
    const items = this.#items
    let index = items.length
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (items[parent]! <= item) break
      items[index] = items[parent]!
      index = parent
    }
    items[index] = item
  }

  pop(): number | undefined {
    const items = this.#items
    const smallest = items[0]
    const last = items.pop()
    if (last !== undefined && items.length > 0) this.#sinkFromTop(last)
    return smallest
  }

  #sinkFromTop(item: number): void {
    const items = this.#items
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= items.length) break
      if (child + 1 < items.length && items[child + 1]! < items[child]!) child++
      if (items[child]! >= item) break
      items[index] = items[child]!
      index = child
    }
    items[index] = item
  }
}
