import { parseSync, Visitor } from 'oxc-parser'

/**
 * @typedef {object} Import
 * @property {string | null} module the specifier, or null when it is computed at run time
 * @property {number} line
 * @property {boolean} typesOnly
 */

/**
 * Every way in which a TypeScript module names another: imports, re-exports, `import()`, types by `import('…')`, `import x = require()`.
 * @param {string} path selects the parser's language, and appears in messages
 * @param {string} source
 * @returns {Import[]}
 */
export function readImports(path, source) {
  const { program, errors } = parseSync(path, source)
  const [error] = errors
  if (error !== undefined) throw new Error(`${path} can't be parsed: ${error.message}`)

  /** @type {Import[]} */
  const imports = []
  /** @param {{ start: number }} node @param {unknown} module @param {boolean} typesOnly */
  const add = (node, module, typesOnly) => {
    const line = source.slice(0, node.start).split('\n').length
    imports.push({ module: typeof module === 'string' ? module : null, line, typesOnly })
  }
  new Visitor({
    ImportDeclaration: (node) => add(node, node.source.value, isTypesOnly(node.importKind, node.specifiers)),
    ExportAllDeclaration: (node) => add(node, node.source.value, node.exportKind === 'type'),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) add(node, node.source.value, isTypesOnly(node.exportKind, node.specifiers))
    },
    ImportExpression: (node) => add(node, node.source.type === 'Literal' ? node.source.value : null, false),
    TSImportType: (node) => add(node, node.source.value, true),
    TSExternalModuleReference: (node) => add(node, node.expression.value, false),
  }).visit(program)
  return imports
}

/**
 * @param {string | null | undefined} kind
 * @param {readonly object[]} specifiers `import {} from` and `import from` run the module, so no specifiers means no types
 */
function isTypesOnly(kind, specifiers) {
  if (kind === 'type') return true
  return (
    specifiers.length > 0 &&
    specifiers.every(
      (specifier) =>
        ('importKind' in specifier && specifier.importKind === 'type') ||
        ('exportKind' in specifier && specifier.exportKind === 'type'),
    )
  )
}
