const reference =
  /\s|^\$|\$[{(]|\{\{|%[({]|^%\w+%$|<[^>]*>|^\/|^\.{1,2}\/|^[a-z][a-z0-9+]{1,20}:\/\/|^(?:arn|vault|ref|env|file|secret|secrets|var|local|data|process|os|op|workspace|catalog|npm|link)[.:]|\*{3}|\.\.|…|x{4}/i;

const plainWords = new Set(
  `a access admin an api app auth authorization aws base basic bar baz bearer bot change changeme client credential credentials db default demo
  dev development disabled dummy empty enabled enter example fake false foo for guest here in insert invalid is it jwt key keys local
  localhost me mine minio minioadmin mock mongo my mypassword mysql none not null oauth of optional pass passphrase password passwd placeholder
  postgres postgresql private prod production public pw pwd rabbitmq read redacted redis replace required root sample sa secret set some
  string super test testing the this to todo token true undefined unset unused use user username value with write your`.split(
    /\s+/,
  ),
);

/** A value that is no secret, or refers to one elsewhere. */
export function isPlaceholder(value: string): boolean {
  return reference.test(value) || isRepeated(value) || /^[\d.,:_-]*$/.test(value) || isWords(value);
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz';
const alphabetParts = Array.from({ length: 19 }, (_, at) => alphabet.slice(at, at + 8));
const exampleText = new RegExp(['example|changeme|placeholder|redacted', ...alphabetParts].join('|'), 'i');

/** What follows the prefix of a token, or a password in a URL, if a person wrote it as an example: a repeated character or group, words, or a part of the alphabet. */
export function isExample(rest: string): boolean {
  return (
    // Base64 of zeros is a part of some tokens.
    /([^A/])\1{7}|(?!AA)([A-Za-z0-9]{2,3})\2{5}/.test(rest) ||
    exampleText.test(rest) ||
    rest.split(/[^A-Za-z0-9*#]+/).every(isRepeated) ||
    isWords(rest)
  );
}

function isRepeated(value: string): boolean {
  return /^(.?)\1*$/.test(value);
}

function isWords(value: string): boolean {
  const words = value.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).filter((word) => word !== '');
  return words.length > 0 && words.every((word) => plainWords.has(word.toLowerCase()) || /^x+$/i.test(word));
}
