//! Settings that people wrote, JSON with comments: one member is put in or taken out, and every other byte stays.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstContainerNode, CstInputValue, CstLeafNode, CstNode, CstObjectProp, CstRootNode};
use serde_json::Value;

/// Why settings were not changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// They are no JSON, not even with comments: what is wrong, and where.
    Broken(String),
    /// This part of them has to be an object.
    NoObject(String),
}

impl std::error::Error for Why {}

impl std::fmt::Display for Why {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Broken(what) => write!(out, "it is not JSON with comments: {what}"),
            Self::NoObject(name) if name.is_empty() => write!(out, "it should hold an object"),
            Self::NoObject(name) => write!(out, "{name:?} in it should be an object"),
        }
    }
}

/// The text of a member's value, if there is one at this path.
pub(crate) fn find(text: &str, path: &[&str]) -> Result<Option<String>, Why> {
    let value = member(&parse(text)?, path).and_then(|member| member.value());
    Ok(value.map(|value| value.to_string()))
}

/// What a text says, without its layout. None where it says nothing that JSON can.
pub(crate) fn meaning(text: &str) -> Option<Value> {
    parse(text).ok()?.to_serde_value()
}

/// The text with this member, a JSON value: in the place of the one that is there, else after the others of its
/// object. Objects on the path that are not there are made, also the outermost.
pub(crate) fn insert(text: &str, path: &[&str], value: &str) -> Result<String, Why> {
    let root = parse(text)?;
    let value = parse(value)?.value().map_or(CstInputValue::Null, |value| input(&value));
    let mut object = root.object_value_or_create().ok_or_else(|| Why::NoObject(String::new()))?;
    let Some((last, parents)) = path.split_last() else { return Ok(text.to_owned()) };
    for name in parents {
        object = object.object_value_or_create(name).ok_or_else(|| Why::NoObject((*name).to_owned()))?;
    }
    match object.get(last) {
        Some(member) => member.set_value(value),
        None => drop(object.append(last, value)),
    }
    Ok(with_mark_of(text, root.to_string()))
}

/// The text without this member. One that is not there changes nothing. Line breaks that [`insert`] put into an
/// object of one line stay.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, Why> {
    let root = parse(text)?;
    let Some(member) = member(&root, path) else { return Ok(text.to_owned()) };
    member.remove();
    Ok(with_mark_of(text, root.to_string()))
}

/// The text with another first string in the array at this path. One that is not there changes nothing.
pub(crate) fn set_first(text: &str, path: &[&str], value: &str) -> Result<String, Why> {
    let root = parse(text)?;
    let array = member(&root, path).and_then(|member| member.value()?.as_array());
    if let Some(first) = array.and_then(|array| array.elements().first()?.as_string_lit()) {
        first.set_raw_value(Value::from(value).to_string());
    }
    Ok(with_mark_of(text, root.to_string()))
}

fn member(root: &CstRootNode, path: &[&str]) -> Option<CstObjectProp> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(root.object_value()?, |object, name| object.object_value(name));
    parent?.get(last)
}

/// The parser takes no byte-order mark, and a file that has one keeps it.
const MARK: char = '\u{feff}';

fn with_mark_of(before: &str, mut after: String) -> String {
    if before.starts_with(MARK) {
        after.insert(0, MARK);
    }
    after
}

/// Comments and trailing commas, as clients take them; nothing looser.
fn parse(text: &str) -> Result<CstRootNode, Why> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text.strip_prefix(MARK).unwrap_or(text), &options)
        .map_err(|error| Why::Broken(error.to_string()))
}

fn input(node: &CstNode) -> CstInputValue {
    match node {
        CstNode::Container(CstContainerNode::Object(object)) => {
            let members = object.properties().into_iter();
            let named = members.filter_map(|member| Some((member.decoded_name()?, input(&member.value()?))));
            CstInputValue::Object(named.collect())
        }
        CstNode::Container(CstContainerNode::Array(array)) => {
            CstInputValue::Array(array.elements().iter().map(input).collect())
        }
        CstNode::Leaf(CstLeafNode::BooleanLit(value)) => CstInputValue::Bool(value.value()),
        CstNode::Leaf(CstLeafNode::NumberLit(value)) => CstInputValue::Number(value.to_string()),
        CstNode::Leaf(CstLeafNode::StringLit(value)) => {
            CstInputValue::String(value.decoded_value().unwrap_or_default())
        }
        _ => CstInputValue::Null,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const OURS: &str = r#"{"type":"local","command":["c","mcp"],"n":{"a":1.50,"b":true,"c":null}}"#;

    /// Settings as people have them, and with our member in them.
    const KEPT: [&str; 6] = [
        "{\n  \"mcp\": {\n    \"other\": {}\n  }\n}\n",
        "{\n\t// a note\n\t\"mcp\": {\n\t\t\"other\": {\"x\": [1,2 ,3]}, // why\n\t},\n\t\"theme\" : \"a\\u0041\",\n}",
        "\r\n{\r\n    \"mcp\": {\r\n        \"other\": 1\r\n    }\r\n}\r\n",
        "{\"mcp\":{\"other\":{\"a\":1}},\"z\":1e999}",
        "/* top */ {\"a\":0, \"mcp\": {\"other\": 1 /* last */}} // end",
        "\u{feff}{\n  \"mcp\": {\n    \"other\": 1\n  }\n}\n",
    ];

    fn dense(text: &str) -> String {
        text.split_whitespace().collect()
    }

    #[test]
    fn what_is_put_in_can_be_taken_out_to_the_byte() {
        for text in KEPT {
            let with = insert(text, &["mcp", "ours"], OURS).unwrap();
            let value = find(&with, &["mcp", "ours"]).unwrap().unwrap();
            assert_eq!(meaning(&value), meaning(OURS), "{with}");
            let without = remove(&with, &["mcp", "ours"]).unwrap();
            // An object on one line is written over several, and stays so.
            if text.lines().count() > 1 {
                assert_eq!(without, text, "{with}");
            } else {
                assert_eq!(dense(&without), dense(text), "{with}");
            }
            assert_eq!(find(text, &["mcp", "ours"]).unwrap(), None);
        }
    }

    #[test]
    fn every_other_byte_stays_where_it_was() {
        for text in KEPT {
            let with = insert(text, &["mcp", "ours"], OURS).unwrap();
            let mut rest = with.chars();
            assert!(text.chars().all(|char| rest.any(|other| other == char)), "{with}");
        }
    }

    #[test]
    fn objects_that_are_missing_are_made() {
        for text in ["", "{}", "{\n}\n", "// nothing yet\n", "{\"a\": 1}", "{\n  \"mcp\": {}\n}"] {
            let with = insert(text, &["mcp", "ours"], "1").unwrap();
            assert_eq!(find(&with, &["mcp", "ours"]).unwrap().as_deref(), Some("1"), "{with}");
        }
        assert_eq!(insert("", &["mcp", "ours"], "[1]").unwrap(), "{\n  \"mcp\": {\n    \"ours\": [1]\n  }\n}\n");
    }

    #[test]
    fn broken_settings_are_refused_with_the_place() {
        for text in ["{\"a\": 1", "{\"a\" 1}", "{a: 1}", "{\"a\": 1 \"b\": 2}", "nonsense", "{} {}"] {
            assert!(matches!(insert(text, &["mcp"], "1"), Err(Why::Broken(_))), "{text}");
            assert!(matches!(remove(text, &["mcp"]), Err(Why::Broken(_))), "{text}");
        }
        assert_eq!(insert("[]", &["mcp", "ours"], "1"), Err(Why::NoObject(String::new())));
        assert_eq!(insert("{\"mcp\": []}", &["mcp", "ours"], "1"), Err(Why::NoObject("mcp".to_owned())));
        let Err(why) = insert("{\n\"a\" 1}", &["mcp"], "1") else { unreachable!() };
        assert!(why.to_string().contains("line 2 column 5"), "{why}");
    }
}
