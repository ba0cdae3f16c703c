/** A step, or a dummy where a long edge crosses a layer. `along` and `across` are its extent in the direction of the edges, and across it. */
export interface Cell {
  readonly layer: number
  readonly along: number
  readonly across: number
  readonly before: number[]
  readonly after: number[]
}

const SWEEPS = 8
const GAP = 26

/** The centre of each cell across the direction of the edges, from 0. Cells of a layer do not overlap. Changes the order of the cells in `layers`. */
export function arrange(cells: readonly Cell[], layers: readonly number[][]): Float64Array {
  const rank = new Float64Array(cells.length)
  for (const layer of layers)
    layer.forEach((cell, index) => {
      rank[cell] = index / layer.length
    })
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    sweepOnce(cells, sweep % 2 === 0 ? layers : layers.toReversed(), rank, sweep % 2 === 0)
  const centres = new Float64Array(cells.length)
  for (const layer of layers) stack(cells, layer, centres)
  for (let pass = 0; pass < SWEEPS; pass++) {
    const forward = pass % 2 === 0
    for (const layer of forward ? layers : layers.toReversed()) settle(cells, layer, centres, forward)
  }
  let least = Number.POSITIVE_INFINITY
  cells.forEach(({ across }, cell) => {
    least = Math.min(least, centres[cell]! - across / 2)
  })
  return centres.map((centre) => Math.round((centre - least) * 2) / 2)
}

/** Sorts each layer by the mean place of its neighbours in the layer before (or after). */
function sweepOnce(
  cells: readonly Cell[],
  layers: readonly number[][],
  rank: Float64Array,
  forward: boolean,
): void {
  for (const layer of layers) {
    for (const cell of layer) rank[cell] = meanOf(cells[cell]!, rank, forward) ?? rank[cell]!
    layer.sort((a, b) => rank[a]! - rank[b]!)
    layer.forEach((cell, index) => {
      rank[cell] = (index + 0.5) / layer.length
    })
  }
}

function meanOf({ before, after }: Cell, of: Float64Array, forward: boolean): number | undefined {
  const neighbours = forward ? before : after
  if (neighbours.length === 0) return undefined
  let sum = 0
  for (const neighbour of neighbours) sum += of[neighbour]!
  return sum / neighbours.length
}

function stack(cells: readonly Cell[], layer: readonly number[], centres: Float64Array): void {
  const extent = layer.reduce((sum, cell) => sum + cells[cell]!.across + GAP, -GAP)
  let at = -extent / 2
  for (const cell of layer) {
    centres[cell] = at + cells[cell]!.across / 2
    at += cells[cell]!.across + GAP
  }
}

/**
 * Moves the cells of a layer as near to their neighbours as their order and their extents allow (least squares: cells that would overlap form a block, which
 * stands where its members want to be on average).
 */
function settle(
  cells: readonly Cell[],
  layer: readonly number[],
  centres: Float64Array,
  forward: boolean,
): void {
  const blocks: { sum: number; count: number }[] = []
  const offsets: number[] = []
  let offset = 0
  layer.forEach((cell, index) => {
    if (index > 0) offset += (cells[layer[index - 1]!]!.across + cells[cell]!.across) / 2 + GAP
    offsets.push(offset)
    const wanted = meanOf(cells[cell]!, centres, forward) ?? centres[cell]!
    let block = { sum: wanted - offset, count: 1 }
    for (
      let last = blocks.at(-1);
      last !== undefined && last.sum / last.count >= block.sum / block.count;
      last = blocks.at(-1)
    ) {
      block = { sum: block.sum + last.sum, count: block.count + last.count }
      blocks.pop()
    }
    blocks.push(block)
  })
  let index = 0
  for (const { sum, count } of blocks)
    for (const end = index + count; index < end; index++)
      centres[layer[index]!] = sum / count + offsets[index]!
}
