import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

/** The OASIS schema is draft 4. Of the differences to draft 7, it uses only `id`. */
export async function createValidator(): Promise<(log: unknown) => void> {
  const schemas = '../../../../node_modules/@microsoft/jest-sarif/lib/schemas';
  const file = new URL(`${schemas}/sarif-2.1.0-rtm.5.json`, import.meta.url);
  const { $schema, id, ...schema } = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  assert.equal($schema, 'http://json-schema.org/draft-04/schema#');
  assert.equal(typeof id, 'string');
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
  addFormats.default(ajv);
  const validate = ajv.compile(schema);
  return (log) => {
    assert.ok(validate(log), JSON.stringify(validate.errors?.slice(0, 3)));
  };
}
