// Validates bundles against the StructureDefinitions of FHIR R4: cardinality, types, slices, FHIRPath.
// Arguments: the directory of the packages, and a file with a list of bundles. Prints what is wrong of each.

globalThis.WebSocket = class {}; // the library's client wants one to be there
const { readFileSync } = require("node:fs");
const [packages, bundles] = process.argv.slice(2);
const medplum = require(`${packages}/core/package/dist/cjs/index.cjs`);
const definitions = `${packages}/definitions/package/dist/fhir/r4`;
const read = (path) => JSON.parse(readFileSync(path, "utf-8"));

for (const name of ["profiles-types", "profiles-resources"]) {
  medplum.indexStructureDefinitionBundle(read(`${definitions}/${name}.json`));
}

function issuesOf(bundle) {
  try {
    return medplum.validateResource(bundle);
  } catch (error) {
    return error.outcome.issue;
  }
}

// A name in the bundle is no literal reference; that each is there is tested elsewhere.
const isName = ({ details }) => /^Invalid reference: got "urn:uuid:/.test(details.text);
// A constraint of a resource is looked at where that is validated by itself.
const told = read(bundles).map((bundle) =>
  [bundle, ...bundle.entry.map(({ resource }) => resource)]
    .flatMap(issuesOf)
    .filter((issue) => !isName(issue))
    .map(({ details, expression }) => `${expression}: ${details.text}`),
);
console.log(JSON.stringify(told));
